// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Processes that fork while a protector waits for other ranks.

#include "fake_protector.h"

#include "../unit/time_limit.h"

#include <array>
#include <functional>
#include <latch>
#include <thread>

namespace {

class Forking : public Protected {
protected:
    // Runs `call` in a thread. While it waits for the other ranks in `waits`, runs `forked` in a
    // process of its own, then `meanwhile` in this one.
    void fork_while(
        std::function<void()> &waits, const std::function<void()> &call,
        const std::function<bool()> &forked, const std::function<void()> &meanwhile = [] {}) {
        const TimeLimit limit(60);
        std::latch waiting{1};
        std::latch has_forked{1};
        waits = [&] {
            waiting.count_down();
            has_forked.wait();
        };
        std::thread calling(call);
        waiting.wait();
        EXPECT_EQ(0, in_process([&] { return forked() ? 0 : 1; }));
        meanwhile();
        has_forked.count_down();
        calling.join();
        waits = [] {};
    }

    // The store is that of the parent process.
    bool is_refused() const {
        return restore_cd(root) == CD_FAILURE && cd_last_error() == CD_ERROR_STORE_FORKED;
    }
    bool restores(char value) {
        fill('-');
        return restore_cd(root) == CD_SUCCESS && memory.front() == value && memory.back() == value;
    }
};

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
    const std::string storage = "store=file,redundancy=xor,log_limit=1000000,dir=" + local.string();
    fork_while(
        protector.others_come,
        [&] {
            root = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_ENABLED, "root", nullptr);
        },
        [] {
            const cd_handle same =
                create_cd(nullptr, "store=memory", CD_COMM_LOGGING_DISABLED, "root", nullptr);
            return same != nullptr && commit_cd(same) == CD_SUCCESS;
        });
    ASSERT_NE(root, nullptr) << cd_last_error_message();
}

TEST_F(Forking, AForkDoesNotWaitForOtherRanksToAdvance) {
    begin();
    add();
    fill('a');
    fork_while(
        protector.others_come, [&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_SUCCESS); },
        [&] { return is_refused(); });
    EXPECT_EQ(info().protected_epoch, 1U);
    EXPECT_TRUE(restores('a'));
}

TEST_F(Forking, AForkDoesNotWaitForOtherRanksToHearThatAnAdvanceFailed) {
    begin();
    advance_with('a');
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    fork_while(
        protector.others_come, [&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE); },
        [&] { return is_refused(); });
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
    advance_with('b');
    EXPECT_EQ(info().protected_epoch, 2U);
}

// All has been written by then but that it counts.
TEST_F(Forking, AForkDoesNotWaitForOtherRanksToAgreeOnAnAdvance) {
    begin();
    advance_with('a');
    add();
    fill('b');
    fork_while(
        protector.all_may_advance, [&] { EXPECT_EQ(advance_cd_point_in_time(root), CD_SUCCESS); },
        [&] { return is_refused(); });
    EXPECT_TRUE(restores('b'));
    EXPECT_EQ(info().protected_epoch, 2U);
}

// So is what a name that moves waits for.
TEST_F(Forking, AForkDoesNotWaitForOtherRanksToCommitAndNoNameDoes) {
    std::array<char, 2> named = {};
    ASSERT_EQ(cd_name_region("named", named.data(), 1), CD_SUCCESS);
    begin();
    const cd_addrspec range = {named.data(), 1, CD_READ_WRITE, CD_GLOBAL};
    ASSERT_EQ(add_to_cd_via_copy(root, &range, 1, nullptr), CD_SUCCESS);
    ASSERT_EQ(delete_from_cd(root, &range, 1), CD_SUCCESS);
    advance_with('a');
    fork_while(
        protector.others_commit, [&] { EXPECT_EQ(commit_cd(root), CD_SUCCESS); },
        [&] { return is_refused(); },
        [&] { EXPECT_EQ(cd_name_region("named", &named[1], 1), CD_SUCCESS); });
    root = nullptr;
    EXPECT_EQ(cd_name_region("named", nullptr, 0), CD_SUCCESS);
}

} // namespace
