// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Processes that fork while a protector waits for other ranks.

#include "fake_protector.h"

#include "../unit/time_limit.h"

#include <array>
#include <latch>
#include <thread>

namespace {

class Forking : public Protected {};

TEST_F(Forking, AForkedProcessLeavesTheProtectorAlone) {
    begin();
    advance_with('a');
    calls();
    EXPECT_EQ(0, in_process([&] {
                  const bool failed =
                      advance_cd_point_in_time(root) == CD_FAILURE && info().protected_epoch == 0;
                  const bool ended = commit_cd(root) == CD_SUCCESS;
                  return failed && ended && calls().empty() ? 0 : 1;
              }));
}

// Other ranks may wait for what happens after the fork. In the new process there is no half root.
TEST_F(Forking, AForkDoesNotWaitForOtherRanks) {
    const TimeLimit limit(60);
    std::latch waiting{1};
    std::latch forked{1};
    protector.others_come = [&] {
        waiting.count_down();
        forked.wait();
    };
    const std::string storage = "store=file,redundancy=xor,log_limit=1000000,dir=" + local.string();
    std::thread creating([&] {
        root = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_ENABLED, "root", nullptr);
    });
    waiting.wait();
    EXPECT_EQ(0, in_process([] {
                  const cd_handle same =
                      create_cd(nullptr, "store=memory", CD_COMM_LOGGING_DISABLED, "root", nullptr);
                  return same != nullptr && commit_cd(same) == CD_SUCCESS ? 0 : 1;
              }));
    forked.count_down();
    creating.join();
    ASSERT_NE(root, nullptr) << cd_last_error_message();
}

TEST_F(Forking, AForkDoesNotWaitForOtherRanksToAdvanceAndBothHaveThePointInTime) {
    const TimeLimit limit(60);
    begin();
    add();
    fill('a');
    std::latch waiting{1};
    std::latch forked{1};
    protector.others_come = [&] {
        waiting.count_down();
        forked.wait();
    };
    std::thread advancing([&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_SUCCESS); });
    waiting.wait();
    const auto has_it = [&] {
        fill('-');
        return restore_cd(root) == CD_SUCCESS && memory.front() == 'a' && memory.back() == 'a';
    };
    EXPECT_EQ(0, in_process([&] { return has_it() ? 0 : 1; }));
    forked.count_down();
    advancing.join();
    protector.others_come = [] {};
    EXPECT_EQ(info().protected_epoch, 1U);
    EXPECT_TRUE(has_it());
}

TEST_F(Forking, AForkDoesNotWaitForOtherRanksToHearThatAnAdvanceFailed) {
    const TimeLimit limit(60);
    begin();
    advance_with('a');
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    std::latch waiting{1};
    std::latch forked{1};
    protector.others_come = [&] {
        waiting.count_down();
        forked.wait();
    };
    std::thread advancing([&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE); });
    waiting.wait();
    EXPECT_EQ(0, in_process([&] {
                  fill('-');
                  return restore_cd(root) == CD_SUCCESS && memory.front() == 'a' ? 0 : 1;
              }));
    forked.count_down();
    advancing.join();
    protector.others_come = [] {};
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
    advance_with('b');
    EXPECT_EQ(info().protected_epoch, 2U);
}

// All has been written by then but that it counts.
TEST_F(Forking, AForkDoesNotWaitForOtherRanksToAgreeOnAnAdvance) {
    const TimeLimit limit(60);
    begin();
    advance_with('a');
    std::latch waiting{1};
    std::latch forked{1};
    protector.all_may_advance = [&] {
        waiting.count_down();
        forked.wait();
    };
    add();
    fill('b');
    std::thread advancing([&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_SUCCESS); });
    waiting.wait();
    EXPECT_EQ(0, in_process([&] {
                  fill('-');
                  return restore_cd(root) == CD_SUCCESS && memory.front() == 'a' ? 0 : 1;
              }));
    forked.count_down();
    advancing.join();
    protector.all_may_advance = [] {};
    fill('-');
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'b');
    EXPECT_EQ(info().protected_epoch, 2U);
}

// So is what a name that moves waits for.
TEST_F(Forking, AForkDoesNotWaitForOtherRanksToCommitAndNoNameDoes) {
    const TimeLimit limit(60);
    std::array<char, 2> named = {};
    ASSERT_EQ(cd_name_region("named", named.data(), 1), CD_SUCCESS);
    begin();
    const cd_addrspec range = {named.data(), 1, CD_READ_WRITE, CD_GLOBAL};
    ASSERT_EQ(add_to_cd_via_copy(root, &range, 1, nullptr), CD_SUCCESS);
    ASSERT_EQ(delete_from_cd(root, &range, 1), CD_SUCCESS);
    advance_with('a');
    std::latch waiting{1};
    std::latch forked{1};
    protector.others_commit = [&] {
        waiting.count_down();
        forked.wait();
    };
    std::thread committing([&] { EXPECT_EQ(commit_cd(root), CD_SUCCESS); });
    waiting.wait();
    EXPECT_EQ(0, in_process([&] {
                  fill('-');
                  return restore_cd(root) == CD_SUCCESS && memory.front() == 'a' ? 0 : 1;
              }));
    EXPECT_EQ(cd_name_region("named", &named[1], 1), CD_SUCCESS);
    forked.count_down();
    committing.join();
    root = nullptr;
    protector.others_commit = [] {};
    EXPECT_EQ(cd_name_region("named", nullptr, 0), CD_SUCCESS);
}

} // namespace
