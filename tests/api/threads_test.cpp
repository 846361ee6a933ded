// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <array>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

// Meant to be run under ThreadSanitizer, too. Nothing here depends on who comes first.
namespace {

constexpr int thread_count = 4;
constexpr int round_count = 200;

class Threads : public CdTest {
protected:
    // Runs work(0) to work(thread_count - 1), all beginning at once.
    static void together(const std::function<void(int)> &work) {
        std::barrier start(thread_count);
        std::vector<std::thread> threads;
        threads.reserve(thread_count);
        for (int i = 0; i < thread_count; ++i) {
            threads.emplace_back([&, i] {
                start.arrive_and_wait();
                work(i);
            });
        }
        for (auto &thread : threads)
            thread.join();
    }
};

TEST_F(Threads, AddConcurrentlyToOneCd) {
    std::vector<uint8_t> data(static_cast<size_t>(thread_count) * round_count * 4, 1);
    std::FILE *file = std::tmpfile();
    const cd_handle root = make_root();
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data.data(), data.size())}, 1)));
    together([&](int thread) {
        for (int round = 0; round < round_count; ++round) {
            uint8_t *mine =
                &data[(static_cast<size_t>(round) * thread_count + static_cast<size_t>(thread)) *
                      4];
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(mine, 1)}, 1)));
            EXPECT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(mine + 1, 1)}, 1)));
            EXPECT_TRUE(succeeds(
                add_to_cd_via_regen(child, {bytes(mine + 2, 1, READ_ONLY)}, 1, write_ones)));
            EXPECT_TRUE(succeeds(add_file_to_cd(child, fileno(file))));
        }
    });
    const cd_info info = info_of(child);
    EXPECT_EQ(info.bytes, data.size() / 4 * 3);
    EXPECT_EQ(info.read_write, data.size() / 4 * 2);
    EXPECT_EQ(info.files, 1U);
    std::fill(data.begin(), data.end(), uint8_t{0});
    ASSERT_TRUE(succeeds(restore_cd(child)));
    for (size_t i = 0; i < data.size(); i += 4) {
        ASSERT_EQ(data[i], 1);
        ASSERT_EQ(data[i + 1], 1);
        ASSERT_EQ(data[i + 2], 0x11);
        ASSERT_EQ(data[i + 3], 0);
    }
    std::fclose(file);
}

// While others add, and in entries that the deletions of others split.
TEST_F(Threads, DeleteConcurrentlyFromOneCd) {
    constexpr int rounds = 10 * round_count; // so that the threads meet
    std::vector<uint8_t> data(static_cast<size_t>(thread_count) * rounds * 2, 1);
    const size_t half = data.size() / 2;
    std::FILE *file = std::tmpfile();
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data.data(), half)}, 1)));
    together([&](int thread) {
        for (int round = 0; round < rounds; ++round) {
            uint8_t *mine =
                &data[static_cast<size_t>(round) * thread_count + static_cast<size_t>(thread)];
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(mine + half, 1)}, 1)));
            EXPECT_TRUE(succeeds(delete_from_cd(root, {bytes(mine, 1)}, 1)));
            EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD, delete_from_cd(root, {bytes(mine, 1)}, 1)));
            EXPECT_TRUE(succeeds(add_file_to_cd(root, fileno(file))));
        }
    });
    EXPECT_EQ(info_of(root).bytes, half);
    std::fill(data.begin(), data.end(), uint8_t{0});
    ASSERT_TRUE(succeeds(restore_cd(root)));
    for (size_t i = 0; i < data.size(); ++i)
        ASSERT_EQ(data[i], i < half ? 0 : 1) << i;
    std::fclose(file);
}

TEST_F(Threads, AddTheSameBytesConcurrently) {
    std::vector<uint8_t> data(256, 1);
    const cd_handle root = make_root();
    together([&](int) {
        for (size_t i = 0; i < data.size(); ++i) {
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&data[i / 2], 128)}, 1)));
        }
    });
    EXPECT_EQ(info_of(root).bytes, 127U + 128U);
}

TEST_F(Threads, CreateAndCommitChildrenOfOneCdConcurrently) {
    std::vector<int> data(thread_count, 5);
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    together([&](int thread) {
        for (int round = 0; round < round_count; ++round) {
            const cd_handle child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            ASSERT_NE(child, nullptr) << last_message();
            EXPECT_LT(info_of(child).sibling, thread_count);
            EXPECT_EQ(std::string(cd_name(CURRENT_CD)), cd_name(child));
            int &mine = data[static_cast<size_t>(thread)];
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(mine)}, 1)));
            mine = round;
            EXPECT_TRUE(succeeds(advance_cd_point_in_time(child)));
            EXPECT_TRUE(succeeds(commit_cd(child)));
        }
    });
    EXPECT_EQ(info_of(root).children, 0);
    EXPECT_EQ(info_of(root).bytes, data.size() * sizeof(int));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(data, std::vector<int>(thread_count, 5)) << "the first value that each thread added";
}

TEST_F(Threads, IndependentCdsDoNotDisturbEachOther) {
    together([&](int thread) {
        std::vector<int> data(100, 0);
        const std::string name = "thread " + std::to_string(thread);
        const cd_handle root =
            create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, name.c_str(), nullptr);
        ASSERT_NE(root, nullptr);
        for (int round = 1; round <= round_count; ++round) {
            EXPECT_TRUE(succeeds(
                add_to_cd_via_copy(root, {bytes(data.data(), data.size() * sizeof(int))}, 1)));
            std::fill(data.begin(), data.end(), round);
            EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
            std::fill(data.begin(), data.end(), -1);
            EXPECT_TRUE(succeeds(restore_cd(root)));
            EXPECT_EQ(data, std::vector<int>(100, round));
        }
        EXPECT_TRUE(succeeds(commit_cd(root)));
    });
}

TEST_F(Threads, ThreadThatEndsWithActiveCdsLeavesThemToOthers) {
    const cd_handle root = make_root();
    int x = 1;
    cd_handle child = nullptr, grandchild = nullptr;
    std::thread([&] {
        child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        grandchild = create_cd(CURRENT_CD, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        EXPECT_TRUE(succeeds(add_to_cd_via_copy(CURRENT_CD, {rw(x)}, 1)));
    }).join();
    x = 2;
    EXPECT_EQ(info_of(grandchild).depth, 2);
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    ASSERT_TRUE(succeeds(restore_cd(root))) << "nobody is active in the child any more";
    EXPECT_EQ(x, 1);
    EXPECT_TRUE(is_gone(child));
}

TEST_F(Threads, ThreadMayEndAfterItsCdsWereEndedByOthers) {
    const cd_handle root = make_root();
    std::barrier meet(2);
    cd_handle child = nullptr;
    std::thread worker([&] {
        child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        meet.arrive_and_wait();
        meet.arrive_and_wait();
        EXPECT_EQ(cd_name(CURRENT_CD), nullptr);
    });
    meet.arrive_and_wait();
    EXPECT_TRUE(succeeds(commit_cd(child)));
    meet.arrive_and_wait();
    worker.join();
    EXPECT_EQ(info_of(root).children, 0);
}

TEST_F(Threads, RestoreWhileADescendantIsActiveElsewhereIsRefused) {
    const cd_handle root = make_root();
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    std::barrier meet(2);
    std::thread worker([&] {
        const cd_handle child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        const cd_handle grandchild =
            create_cd(child, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        meet.arrive_and_wait();
        meet.arrive_and_wait();
        EXPECT_TRUE(succeeds(restore_cd(child))) << "in its own thread it may";
        EXPECT_TRUE(is_gone(grandchild));
        EXPECT_TRUE(succeeds(commit_cd(child)));
    });
    meet.arrive_and_wait();
    x = 2;
    EXPECT_TRUE(
        fails_with(CD_ERROR_ACTIVE_ELSEWHERE, restore_cd(root), {"0/root/0/0", "0/root/1/0"}));
    EXPECT_EQ(x, 2);
    EXPECT_EQ(info_of(root).children, 1);
    meet.arrive_and_wait();
    worker.join();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
}

// The refusal must not be a matter of luck while the other thread creates and ends descendants.
TEST_F(Threads, RestoreIsRefusedWhateverTheOtherThreadDoesBelow) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    std::atomic<bool> done = false;
    int x = 0; // outlives the worker, as what a CD holds must
    std::barrier meet(2);
    std::thread worker([&] {
        const cd_handle child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        meet.arrive_and_wait();
        while (!done) {
            const cd_handle first =
                create_cd(child, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            const cd_handle second =
                create_cd(child, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            EXPECT_TRUE(succeeds(add_to_cd_via_copy(first, {rw(x)}, 1)));
            EXPECT_TRUE(succeeds(commit_cd(second)));
            EXPECT_TRUE(succeeds(commit_cd(first)));
        }
        EXPECT_TRUE(succeeds(commit_cd(child)));
    });
    meet.arrive_and_wait();
    for (int round = 0; round < round_count; ++round) {
        EXPECT_TRUE(fails_with(CD_ERROR_ACTIVE_ELSEWHERE, restore_cd(root)));
    }
    done = true;
    worker.join();
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

// Siblings' logs hang together, the siblings do not.
TEST_F(Threads, CreateSiblingsAtDifferentDepthsOfOneFamilyConcurrently) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    const cd_handle child = make_child(root);
    const cd_handle grandchild = make_child(child);
    const cd_handle parents[] = {root, child, grandchild, root};
    together([&](int thread) {
        const cd_log_part part = {&thread, sizeof thread};
        for (int round = 0; round < round_count; ++round) {
            const cd_handle mine =
                create_cd(parents[thread], nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            ASSERT_NE(mine, nullptr) << last_message();
            EXPECT_TRUE(succeeds(cd_log_append(mine, &part, 1)));
            EXPECT_TRUE(succeeds(restore_cd(mine)));
            size_t length = 0;
            const void *entry = cd_log_next(mine, &length, nullptr);
            EXPECT_NE(entry, nullptr);
            EXPECT_TRUE(succeeds(commit_cd(mine)));
        }
    });
    EXPECT_EQ(info_of(root).children, 1);
}

TEST_F(Threads, DeletingALogLeavesWhatLogsBelowItMeanwhileLive) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    constexpr int child_count = 100;
    std::atomic<bool> done = false;
    std::barrier ready(2);
    const std::jthread logger([&] {
        std::vector<cd_handle> children;
        for (int i = 0; i < child_count; ++i) {
            children.push_back(create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr));
        }
        ready.arrive_and_wait();
        const cd_log_part part = {"8 bytes.", 8};
        while (!done && !HasFailure()) {
            for (const cd_handle child : children) {
                EXPECT_TRUE(succeeds(cd_log_append(child, &part, 1)));
            }
        }
        for (const cd_handle child : children) {
            EXPECT_TRUE(succeeds(commit_cd(child)));
        }
    });
    ready.arrive_and_wait();
    for (int i = 0; i < 2000 && !HasFailure(); ++i) {
        EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    }
    done = true;
}

std::thread *ending; // by the regen function below

int join_it(cd_addrspec * /*ranges*/, int /*count*/) {
    ending->join();
    return 0;
}

// The place of a CD that has ended is another one's, in which somebody waits for the thread.
TEST_F(Threads, TheEndOfOneWaitsForNoCdThatIsNotItsOwn) {
    std::barrier step(2);
    std::thread thread([&] {
        const cd_handle first = make_root(COMM_LOGGING_DISABLED, nullptr, "first");
        make_root(COMM_LOGGING_DISABLED, nullptr, "second");
        EXPECT_TRUE(succeeds(commit_cd(first)));
        step.arrive_and_wait();
        step.arrive_and_wait();
    });
    ending = &thread;
    step.arrive_and_wait();
    const cd_handle in_its_place = make_root(COMM_LOGGING_DISABLED, nullptr, "third");
    uint8_t byte = 0;
    EXPECT_TRUE(
        succeeds(add_to_cd_via_regen(in_its_place, {bytes(&byte, 1, READ_ONLY)}, 1, join_it)));
    step.arrive_and_wait();
    EXPECT_TRUE(succeeds(restore_cd(in_its_place)));
}

// The thread's own CDs, or descendants of them, are being restored by another thread.
TEST_F(Threads, TheEndOfOneDoesNotWaitForARestoreThatWaitsForIt) {
    for (const bool of_descendant : {false, true}) {
        std::barrier step(2);
        cd_handle root = nullptr;
        std::thread thread([&] {
            root = make_root();
            step.arrive_and_wait();
            step.arrive_and_wait();
        });
        ending = &thread;
        step.arrive_and_wait();
        const cd_handle restored = of_descendant ? make_child(root) : root;
        uint8_t byte = 0;
        EXPECT_TRUE(
            succeeds(add_to_cd_via_regen(restored, {bytes(&byte, 1, READ_ONLY)}, 1, join_it)));
        step.arrive_and_wait();
        EXPECT_TRUE(succeeds(restore_cd(restored)));
        EXPECT_TRUE(succeeds(commit_cd(restored)));
        EXPECT_TRUE(of_descendant ? succeeds(commit_cd(root)) : is_gone(root));
    }
}

TEST_F(Threads, QueryWhileOthersAdd) {
    std::vector<uint8_t> data(static_cast<size_t>(thread_count) * round_count, 1);
    const cd_handle root = make_root();
    together([&](int thread) {
        for (int round = 0; round < round_count; ++round) {
            if (thread == 0) {
                const cd_info info = info_of(root);
                EXPECT_EQ(info.bytes, info.entries);
                EXPECT_EQ(info.bytes, info.read_write);
            } else {
                uint8_t *mine =
                    &data[static_cast<size_t>(round) * thread_count + static_cast<size_t>(thread)];
                EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(mine, 1)}, 1)));
            }
        }
    });
    EXPECT_EQ(info_of(root).bytes, size_t{thread_count - 1} * round_count);
}

// A name that moves looks at what all CDs hold.
TEST_F(Threads, NamesOfRegionsMoveWhileOthersAddAndDelete) {
    std::string directory = testing::TempDir() + "cd-names-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string storage = "store=file,sync=none,dir=" + directory;
    const cd_handle root =
        create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "names", nullptr);
    ASSERT_NE(root, nullptr) << cd_last_error_message();
    std::array<uint64_t, thread_count> data = {};
    ASSERT_TRUE(succeeds(cd_name_region("names", data.data(), sizeof data[0])));
    together([&](int thread) {
        uint64_t &mine = data[static_cast<size_t>(thread)];
        for (int round = 0; round < round_count; ++round) {
            if (thread != 0) {
                EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(mine)}, 1)));
                EXPECT_TRUE(succeeds(delete_from_cd(root, {rw(mine)}, 1)));
            } else if (cd_name_region("names", &data[static_cast<size_t>(round) % thread_count],
                                      sizeof mine) != CD_SUCCESS) {
                EXPECT_EQ(cd_last_error(), CD_ERROR_NAME_IN_USE);
            }
        }
    });
    EXPECT_TRUE(succeeds(cd_name_region("names", nullptr, 0)));
    EXPECT_TRUE(succeeds(commit_cd(root)));
    std::filesystem::remove_all(directory);
}

// An only child shares its parent's log.
TEST_F(Threads, LogLengthsAreOfOneMomentWhileTheParentLogs) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    const cd_handle child = make_child(root);
    constexpr int entry_count = 100'000;
    const std::jthread logger([&] {
        const cd_log_part part = {"8 bytes.", 8};
        for (int i = 0; i < entry_count; ++i)
            EXPECT_TRUE(succeeds(cd_log_append(root, &part, 1)));
    });
    cd_info info{};
    while (info.log_length < entry_count && !HasFailure()) {
        info = info_of(child);
        ASSERT_EQ(info.log_remaining, 0U);
        ASSERT_EQ(info.replaying, 0);
        ASSERT_EQ(info.log_bytes, info.log_length * 8);
    }
}

} // namespace
