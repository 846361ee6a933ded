// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

#include <functional>
#include <thread>

// Entries that a re-execution may leave unread, at the end of what it has read: nothing is refused
// for them that is refused for others.
namespace {

class MpiLogLeft : public MpiLog {
protected:
    void SetUp() override {
        MpiLog::SetUp();
        append(root, "r1");
    }

    static void in_a_thread(const std::function<void()> &work) { std::thread(work).join(); }

    // To the log of this thread's active CD.
    static void append_optional(const std::string &text) {
        const cd_log_room room = cd_log_open(text.size());
        ASSERT_NE(room.at, nullptr);
        std::memcpy(room.at, text.data(), text.size());
        cd_log_close_optional(text.size());
    }

    // A child of another thread, which reads a log, writes more and ends.
    void child_elsewhere(const std::string &reads, const std::string &writes) {
        in_a_thread([&] {
            const cd_handle child = make_child(root);
            if (!reads.empty()) {
                EXPECT_EQ(next(child), reads);
            }
            if (!writes.empty()) {
                append(child, writes);
            }
            ASSERT_TRUE(succeeds(commit_cd(child)));
        });
    }
};

TEST_F(MpiLogLeft, AreReadAsOthers) {
    append_optional("poll");
    append(root, "r2");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 poll r2 ");
}

TEST_F(MpiLogLeft, DoNotHinderAnAdvanceBesideNewOnesOfAnotherThreadsChild) {
    append_optional("poll");
    append_optional("clock");
    child_elsewhere("", "c1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    child_elsewhere("c1", "c2");
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(MpiLogLeft, AreNotLookedPastForOthersBehindThem) {
    append_optional("poll");
    append(root, "r2");
    child_elsewhere("", "c1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    child_elsewhere("c1", "c2");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, advance_cd_point_in_time(root)));
}

TEST_F(MpiLogLeft, OfASiblingDoNotHinderAnAdvanceOfTheParent) {
    in_a_thread([&] {
        const cd_handle child = make_child(root);
        append(child, "c1");
        append_optional("poll");
        ASSERT_TRUE(succeeds(commit_cd(child)));
    });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    child_elsewhere("c1", "");
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(MpiLogLeft, OfASiblingThatWasRestoredAreNobodys) {
    in_a_thread([&] {
        const cd_handle child = make_child(root);
        append(child, "c1");
        append_optional("poll");
        ASSERT_TRUE(succeeds(restore_cd(child)));
        EXPECT_EQ(next(child), "c1");
        ASSERT_TRUE(succeeds(commit_cd(child)));
    });
    child_elsewhere("", "d1");
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    in_a_thread([&] {
        const cd_handle child = make_child(root);
        EXPECT_EQ(rest(child), "c1 poll d1 ");
        ASSERT_TRUE(succeeds(commit_cd(child)));
    });
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

// It begins where it did before, behind what the one before has left.
TEST_F(MpiLogLeft, OfASiblingAreNotThoseOfTheNext) {
    const auto child_beside = [&](cd_handle first, const std::function<void(cd_handle)> &work) {
        const cd_handle second = make_child(root);
        EXPECT_NE(first, second);
        work(second);
        EXPECT_TRUE(succeeds(commit_cd(second)));
    };
    const cd_handle first = make_child(root);
    child_beside(first, [&](cd_handle cd) {
        append(cd, "b1");
        append_optional("poll");
    });
    child_beside(first, [&](cd_handle cd) { append(cd, "c1"); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle first_again = make_child(root);
    child_beside(first_again, [&](cd_handle cd) { EXPECT_EQ(next(cd), "b1"); });
    child_beside(first_again, [&](cd_handle cd) { EXPECT_EQ(rest(cd), "c1 "); });
    ASSERT_TRUE(succeeds(commit_cd(first_again)));
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(MpiLogLeft, DoNotHinderASiblingThatTheLogDoesNotKnow) {
    append_optional("poll");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle first = make_child(root);
    const cd_handle second = make_child(root);
    append(second, "b1");
    ASSERT_TRUE(succeeds(commit_cd(second)));
    ASSERT_TRUE(succeeds(commit_cd(first)));
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

} // namespace
