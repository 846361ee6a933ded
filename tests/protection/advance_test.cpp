// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The points in time that advances offer to a protector, and the outcomes.

#include "fake_protector.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

namespace {

using Calls = std::vector<std::string>;

class Advancing : public Protected {};

TEST_F(Advancing, AnAdvanceThatIsNotProtectedIsTakenLocally) {
    begin();
    advance_with('a');
    protector.protect_fails = CD_ERROR_STORE_FULL;
    testing::internal::CaptureStderr();
    advance_with('b');
    EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); // one of the ranks tells people
    EXPECT_EQ(cd_last_error(), CD_ERROR_NONE);
    EXPECT_EQ(info().epoch, 2U);
    EXPECT_EQ(info().protected_epoch, 1U);
    fill('-');
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'b');
    protector.protect_fails = CD_ERROR_NONE;
    advance_with('c');
    EXPECT_EQ(info().protected_epoch, 3U);
}

TEST_F(Advancing, AnAdvanceThatCannotBeMadeHereIsMadeNowhere) {
    begin();
    add();
    calls();
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_HAS_CHILDREN);
    const std::string why = cd_last_error_message();
    EXPECT_NE(why, "");
    EXPECT_EQ(calls(), Calls{"refuse 1 " + std::to_string(CD_ERROR_HAS_CHILDREN) + " " + why});
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
    EXPECT_EQ(info().epoch, 0U);
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS);
    EXPECT_EQ(calls(), Calls{"protect 1"});
    EXPECT_EQ(info().epoch, 1U);
}

TEST_F(Advancing, AStoreThatCannotBeWrittenToIsToldBeforeAnyRankAdvances) {
    begin();
    advance_with('a');
    calls();
    const std::string store = local / files().front();
    std::filesystem::rename(store, store + ".elsewhere");
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    const Calls refused = calls();
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_EQ(refused.front().find("refuse 2 "), 0U) << refused.front();
    std::filesystem::rename(store + ".elsewhere", store);
    advance_with('b');
    EXPECT_EQ(calls(), Calls{"protect 2"});
}

TEST_F(Advancing, AnAdvanceThatAnotherRankCannotMakeChangesNothing) {
    begin();
    advance_with('a');
    protector.may_not_advance = CD_ERROR_STORE_FULL;
    fill('b');
    calls();
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_FULL);
    EXPECT_EQ(calls(), Calls{});
    EXPECT_EQ(info().epoch, 1U);
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'a');
    protector.may_not_advance = CD_ERROR_NONE;
    advance_with('c');
    EXPECT_EQ(calls(), Calls{"protect 2"});
    EXPECT_EQ(info().epoch, 2U);
}

// Its record cannot be written, which no rank knew before.
TEST_F(Advancing, AnAdvanceThatFailsWhenAllHaveAgreedIsSkippedWithItsEpoch) {
    begin();
    advance_with('a');
    fill('b');
    calls();
    const std::string store = local / files().front();
    protector.all_may_advance = [&] { std::filesystem::rename(store, store + ".elsewhere"); };
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    const std::string problem = cd_last_error_message();
    EXPECT_NE(problem.find("do not repeat this call alone"), std::string::npos) << problem;
    EXPECT_EQ(calls(), Calls{"skip 2"});
    EXPECT_EQ(protector.skipped_since, problem.substr(0, problem.find(". The other")));
    protector.all_may_advance = [] {};
    std::filesystem::rename(store + ".elsewhere", store);
    EXPECT_EQ(info().epoch, 1U);
    // The others do not go back to it.
    EXPECT_EQ(restore_cd(root), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
    EXPECT_EQ(memory.front(), 'b');
    advance_with('c');
    EXPECT_EQ(calls(), Calls{"protect 3"});
    EXPECT_EQ(info().epoch, 3U);
    fill('d');
    EXPECT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'c');
}

TEST_F(Advancing, TheOthersAreNotToldToRepeatWhatFailedHere) {
    begin();
    advance_with('a');
    fill('b');
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto ended_by = std::signal(SIGXFSZ, SIG_IGN);
    protector.all_may_advance = [&] {
        const rlimit nothing = {1, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &nothing);
    };
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ended_by);
    protector.all_may_advance = [] {};
    EXPECT_NE(protector.skipped_since.find("RLIMIT_FSIZE"), std::string::npos)
        << protector.skipped_since;
    EXPECT_EQ(protector.skipped_since.find("repeat"), std::string::npos) << protector.skipped_since;
    advance_with('c');
}

struct Seen {
    cd_operation operation;
    cd_error error;
    std::string name;
    bool operator==(const Seen &) const = default;
};

TEST_F(Advancing, AnObserverSeesWhatBecameOfTheProtection) {
    begin();
    add();
    std::vector<Seen> seen;
    cd_observe(
        [](const cd_event *event, void *context) {
            static_cast<std::vector<Seen> *>(context)->push_back(
                {event->operation, event->error, event->name});
        },
        &seen);
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS);
    protector.protect_fails = CD_ERROR_STORE_FULL;
    testing::internal::CaptureStderr();
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS);
    testing::internal::GetCapturedStderr();
    cd_observe(nullptr, nullptr);
    const std::vector<Seen> expected = {{CD_OP_PROTECT, CD_ERROR_NONE, "0/root/0/0"},
                                        {CD_OP_ADVANCE, CD_ERROR_NONE, "0/root/0/0"},
                                        {CD_OP_PROTECT, CD_ERROR_STORE_FULL, "0/root/0/0"},
                                        {CD_OP_ADVANCE, CD_ERROR_NONE, "0/root/0/0"}};
    EXPECT_EQ(seen, expected);
}

TEST_F(Advancing, PointsThatAreProtectedLaterAreWhatTheyWere) {
    protector.later = true;
    begin();
    for (char value = 'a'; value <= 'e'; ++value) {
        advance_with(value);
    }
    add();
    fill('-'); // what is added after an advance is not in its point in time
    EXPECT_EQ(info().epoch, 5U);
    EXPECT_EQ(info().protected_epoch, 0U);
    std::thread([&] { protector.take_images(); }).join();
    EXPECT_EQ(info().protected_epoch, 5U);
    const auto saved = scratch / "saved";
    std::filesystem::rename(protector.images, saved);
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    for (uint64_t epoch = 1; epoch <= 5; ++epoch) {
        protector.start.epoch = epoch;
        std::strcpy(protector.start.image, (saved / std::to_string(epoch)).c_str());
        EXPECT_EQ(0, in_process([&] {
                      protector.restarts = false;
                      local = scratch / std::to_string(epoch);
                      root = create();
                      if (root == nullptr || info().epoch != epoch) {
                          return 1;
                      }
                      add();
                      return restore_cd(root) == CD_SUCCESS &&
                                     std::ranges::count(memory,
                                                        'a' + static_cast<int>(epoch) - 1) ==
                                         static_cast<long>(memory.size())
                                 ? 0
                                 : 2;
                  }))
            << epoch;
    }
}

// The helper thread of redundancy_mode=async does so.
TEST_F(Advancing, AnotherThreadTakesAndReleasesPointsWhileTheStoreGoesOn) {
    protector.later = true;
    begin();
    for (char value = 'a'; value <= 'h'; ++value) {
        advance_with(value);
        std::thread helper([&] { protector.take_images(); });
        for (int i = 0; i < 10; ++i) { // each writes to the store, and uses what is free in it
            const cd_handle child =
                create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
            const cd_addrspec range = {memory.data(), memory.size() / 2, CD_READ_WRITE, CD_GLOBAL};
            EXPECT_EQ(add_to_cd_via_copy(child, &range, 1, nullptr), CD_SUCCESS);
            EXPECT_EQ(advance_cd_point_in_time(child), CD_SUCCESS);
            EXPECT_EQ(restore_cd(root), CD_SUCCESS) << cd_last_error_message();
        }
        helper.join();
        EXPECT_EQ(std::ranges::count(memory, value), static_cast<long>(memory.size()));
    }
    EXPECT_EQ(info().protected_epoch, 8U);
    const auto saved = scratch / "saved";
    std::filesystem::rename(protector.images, saved);
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    protector.restarts = false;
    protector.start.epoch = 8;
    std::strcpy(protector.start.image, (saved / "8").c_str());
    begin();
    add();
    fill('-');
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(std::ranges::count(memory, 'h'), static_cast<long>(memory.size()));
}

TEST_F(Advancing, PointsAreReleasedOnceTheRootIsGone) {
    protector.later = true;
    begin();
    advance_with('a');
    ASSERT_EQ(protector.kept.size(), 1U);
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    EXPECT_TRUE(protector.kept.empty());
    begin();
    advance_with('b');
    EXPECT_EQ(info().epoch, 1U);
}

} // namespace
