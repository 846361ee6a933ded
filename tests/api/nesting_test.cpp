// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

// CDs nested so deeply that functions which call themselves once per CD would overflow the stack.
namespace {

#ifdef __has_feature
constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else // GCC, which no preset with a sanitizer uses
constexpr bool is_sanitized = false;
#endif

// With a sanitizer frames are larger, and each level takes ten times as long.
constexpr int level_count = is_sanitized ? 3'000 : 10'000;
constexpr size_t small_stack = size_t{256} << 10;

// Runs work in a thread with a stack of that size.
template <typename Work> void on_stack(size_t size, Work work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    pthread_t thread;
    const auto run = [](void *given) -> void * {
        (*static_cast<Work *>(given))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

class Nesting : public CdTest {
protected:
    // Nested level_count deep. Returns the innermost.
    static cd_handle nest(cd_handle root) {
        cd_handle innermost = root;
        for (int level = 0; level < level_count && innermost != nullptr; ++level)
            innermost = create_cd(innermost, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        EXPECT_NE(innermost, nullptr) << last_message();
        return innermost;
    }

    static void commit_down_to(cd_handle root) {
        while (info_of(root).children > 0 && !HasFailure())
            EXPECT_TRUE(succeeds(commit_cd(CURRENT_CD)));
    }
};

TEST_F(Nesting, OfThousandsOfCdsNeedsNoStackOfThatSize) {
    on_stack(small_stack, [&] {
        char x = 1, y = 1, z = 1;
        cd_handle root = make_root(COMM_LOGGING_ENABLED);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
        cd_handle innermost = nest(root);
        ASSERT_TRUE(succeeds(add_to_cd_via_parent(innermost, {rw(x)}, 1)));
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(innermost, {rw(y)}, 1)));
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(innermost, {constrained(z)}, 1)));
        EXPECT_TRUE(succeeds(cd_verify(innermost, nullptr, nullptr)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(innermost)));
        x = y = z = 2;
        ASSERT_TRUE(succeeds(restore_cd(innermost)));
        EXPECT_EQ(x, 1);
        EXPECT_EQ(y, 1);
        commit_down_to(root);
        // A new one: the log remembers how deep it has been, which takes its time in each
        // create_cd.
        ASSERT_TRUE(succeeds(commit_cd(root)));
        root = make_root(COMM_LOGGING_ENABLED);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
        innermost = nest(root);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(innermost, {rw(z)}, 1)));
        ASSERT_TRUE(succeeds(add_to_cd_via_parent(innermost, {rw(x)}, 1)));
        x = y = z = 3;
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(x, 1);
        EXPECT_EQ(z, 1);
        EXPECT_EQ(info_of(root).children, 0);
    });
}

// Fewer, since these take time in proportion to the square.
constexpr int holder_count = is_sanitized ? 300 : 2'500;

// Each ancestor splits what its descendant asks for, the nearest one at the end.
TEST_F(Nesting, DataMayBeSpreadOverThousandsOfAncestors) {
    std::vector<char> memory(holder_count, 1);
    const cd_handle root = make_root();
    on_stack(small_stack, [&] {
        cd_handle innermost = root;
        for (int level = 0; level < holder_count; ++level) {
            ASSERT_TRUE(succeeds(add_to_cd_via_copy(
                innermost, {bytes(&memory[static_cast<size_t>(level)], 1, READ_ONLY)}, 1)));
            innermost = create_cd(innermost, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            ASSERT_NE(innermost, nullptr) << last_message();
        }
        const cd_addrspec all = bytes(memory.data(), memory.size(), READ_ONLY);
        ASSERT_TRUE(succeeds(add_to_cd_via_parent(innermost, {all}, 1)));
        EXPECT_TRUE(succeeds(cd_verify(innermost, nullptr, nullptr)));
        std::fill(memory.begin(), memory.end(), char{2});
        ASSERT_TRUE(succeeds(restore_cd(innermost)));
        EXPECT_EQ(memory, std::vector<char>(memory.size(), 1));
        innermost = make_child(innermost); // which all of them write over
        std::fill(memory.begin(), memory.end(), char{2});
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(innermost, {all}, 1)));
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(memory, std::vector<char>(memory.size(), 1));
    });
}

// A second child at each level has a log of its own, which lies in that of the one above.
TEST_F(Nesting, LogsMayLieInEachOtherThousandsDeep) {
    constexpr int log_count = is_sanitized ? 2'000 : 6'000;
    on_stack(small_stack, [&] {
        const cd_handle root = make_root(COMM_LOGGING_ENABLED);
        cd_handle innermost = root;
        for (int level = 0; level < log_count; ++level) {
            const cd_handle parent = innermost;
            ASSERT_NE(create_cd(parent, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr), nullptr);
            innermost = create_cd(parent, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            ASSERT_NE(innermost, nullptr) << last_message();
        }
        const cd_log_part part = {"entry", 5};
        ASSERT_TRUE(succeeds(cd_log_append(innermost, &part, 1)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(innermost)));
        const pid_t process = fork();
        if (process == 0) {
            _exit(commit_cd(innermost) == SUCCESS ? 0 : 1);
        }
        int outcome = 1;
        ASSERT_EQ(waitpid(process, &outcome, 0), process);
        EXPECT_EQ(outcome, 0);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
        ASSERT_TRUE(succeeds(commit_cd(root)));
    });
}

} // namespace
