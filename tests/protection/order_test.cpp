// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Which calls a protector gets, when and with what, and what their failures do.

#include "fake_protector.h"

#include "../unit/time_limit.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <latch>
#include <system_error>
#include <thread>

namespace {

using Calls = std::vector<std::string>;

class Order : public Protected {};

TEST_F(Order, ARootIsOpenedAdvancedAndForgotten) {
    begin();
    EXPECT_EQ(calls(), (Calls{"open 0 root", "opened"}));
    advance_with('a');
    advance_with('b');
    EXPECT_EQ(calls(), (Calls{"protect 1", "protect 2"}));
    EXPECT_EQ(info().epoch, 2U);
    EXPECT_EQ(info().protected_epoch, 2U);
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    EXPECT_EQ(calls(), (Calls{"forget", "close"}));
    EXPECT_EQ(files(), Calls{});
}

TEST_F(Order, TheProtectorIsToldWhatIsInForce) {
    begin(",set_size=4,group=rack,redundancy_mode=async,flush=/lustre,flush_interval=5");
    EXPECT_EQ(protector.directory, local);
    EXPECT_EQ(protector.storage_info,
              "store=file,dir=" + local.string() +
                  ",redundancy=xor,set_size=4,group=rack,sync=full,track=explicit,shadow=full,"
                  "keep=1,redundancy_mode=async,flush=/lustre,flush_interval=5,log_limit=0");
    EXPECT_EQ(protector.restart, "");
}

TEST_F(Order, CdRestartIsTheProtectorsToUnderstand) {
    for (const char *value : {"no", "yes", "3", "what"}) {
        ::setenv("CD_RESTART", value, 1);
        begin();
        EXPECT_EQ(protector.restart, value);
        ASSERT_EQ(commit_cd(root), CD_SUCCESS);
        root = nullptr;
    }
}

TEST_F(Order, ADirectoryThatIsNotGivenIsTheUsualOne) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(scratch);
    root =
        create_cd(nullptr, "store=file,config=levels", CD_COMM_LOGGING_DISABLED, "root", nullptr);
    EXPECT_NE(root, nullptr) << cd_last_error_message();
    EXPECT_EQ(protector.directory, "cd-stores");
    EXPECT_TRUE(std::filesystem::exists(scratch / "cd-stores" / "0-root.cds"));
    EXPECT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    std::filesystem::current_path(before);
}

TEST_F(Order, RootsWithoutRedundancyAndChildrenAreNotConcerned) {
    root = create_cd(nullptr, ("store=file,dir=" + local.string()).c_str(),
                     CD_COMM_LOGGING_DISABLED, "root", nullptr);
    advance_with('a');
    EXPECT_EQ(info().protected_epoch, 0U);
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    EXPECT_EQ(calls(), Calls{});

    begin();
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    ASSERT_EQ(advance_cd_point_in_time(child), CD_SUCCESS);
    cd_info info;
    ASSERT_EQ(cd_query(child, &info), CD_SUCCESS);
    EXPECT_EQ(info.protected_epoch, 0U);
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
    EXPECT_EQ(calls(), (Calls{"open 0 root", "opened"}));
}

// A file that is also written past it is open twice.
TEST_F(Order, WhatIsProtectedIsReadBackFromThePageCache) {
    begin();
    int descriptors = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code none; // the iterator's own is gone
        descriptors += std::filesystem::equivalent(entry, local / "0-root.cds", none) ? 1 : 0;
    }
    EXPECT_EQ(descriptors, 1);
}

TEST_F(Order, AChildOrAnAddCallHasTheProtectionOfItsRoot) {
    begin();
    for (const char *other : {"redundancy=single", "redundancy=none", "set_size=2"}) {
        int error = 0;
        EXPECT_EQ(create_cd(root, other, CD_COMM_LOGGING_INHERIT, nullptr, &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_STORAGE_UNSUPPORTED) << other;
        const cd_addrspec range = {memory.data(), 10, CD_READ_WRITE, CD_GLOBAL};
        EXPECT_EQ(add_to_cd_via_copy(root, &range, 1, other), CD_FAILURE);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORAGE_UNSUPPORTED) << other;
    }
    const cd_handle child =
        create_cd(root, "redundancy=xor", CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    EXPECT_NE(child, nullptr) << cd_last_error_message();
    EXPECT_EQ(commit_cd(child), CD_SUCCESS);
}

// ---- Failures ------------------------------------------------------------------------------

TEST_F(Order, ARootThatCannotBeOpenedIsNotCreated) {
    protector.open_fails = CD_ERROR_REDUNDANCY_EXCEEDED;
    EXPECT_EQ(create(), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_STREQ(cd_last_error_message(), "open was told to fail");
    EXPECT_EQ(calls(), Calls{"open 0 root"});
    EXPECT_FALSE(std::filesystem::exists(local));
    protector.open_fails = CD_ERROR_NONE;
    begin();
}

TEST_F(Order, ARootWhoseStoreCannotBeOpenedIsToldToTheOthersAndClosed) {
    std::ofstream(local) << "no directory";
    EXPECT_EQ(create(), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_DIRECTORY);
    const std::string why = cd_last_error_message();
    EXPECT_NE(why.find(local), std::string::npos);
    EXPECT_EQ(calls(),
              (Calls{"open 0 root",
                     "opened " + std::to_string(CD_ERROR_STORE_DIRECTORY) + " " + why, "close"}));
    std::filesystem::remove(local);
    begin();
}

TEST_F(Order, ARootThatAnotherRankCannotOpenIsNotCreatedAndCanBeLater) {
    EXPECT_EQ(0, in_process([&] {
                  root = create();
                  advance_with('a');
                  return info().protected_epoch == 1 ? 0 : 1;
              }));
    protector.opened_fails = CD_ERROR_STORE_FULL;
    for (int attempt = 0; attempt < 3; ++attempt) {
        EXPECT_EQ(create(), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_FULL);
        EXPECT_STREQ(cd_last_error_message(), "opened was told to fail");
        EXPECT_EQ(calls(), (Calls{"open 0 root", "opened", "close"}));
    }
    protector.opened_fails = CD_ERROR_NONE;
    begin();
    EXPECT_EQ(info().epoch, 1U);
    add();
    ASSERT_EQ(restore_cd(root), CD_SUCCESS) << cd_last_error_message();
    EXPECT_EQ(std::ranges::count(memory, 'a'), static_cast<long>(memory.size()));
}

TEST_F(Order, AnAdvanceThatIsNotProtectedIsTakenLocally) {
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

// Another rank may have come to the creation, and does not wait for this one.
TEST_F(Order, ARootThatCannotComeToBeIsDeclined) {
    begin();
    calls();
    EXPECT_EQ(create(), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NAME_IN_USE);
    EXPECT_EQ(calls(), Calls{"decline root " + std::to_string(CD_ERROR_NAME_IN_USE) + " " +
                             cd_last_error_message()});
    ::setenv("CD_MTBF", "soon", 1);
    EXPECT_EQ(create_cd(nullptr, ("store=file,redundancy=xor,dir=" + local.string()).c_str(),
                        CD_COMM_LOGGING_DISABLED, "other", nullptr),
              nullptr);
    ::unsetenv("CD_MTBF");
    EXPECT_EQ(calls(), Calls{"decline other " + std::to_string(cd_last_error()) + " " +
                             cd_last_error_message()});
}

// Also where it cannot be read what it is to be, as long as something says that it is to be
// protected: the environment, too.
TEST_F(Order, ARootThatCannotBeReadIsDeclinedIfItSeemsToHaveRedundancy) {
    const auto calls_of = [&](const char *storage_info, const char *name) {
        calls();
        EXPECT_EQ(create_cd(nullptr, storage_info, CD_COMM_LOGGING_DISABLED, name, nullptr),
                  nullptr);
        return calls();
    };
    const auto expect_declined = [&](const char *storage_info, const char *name) {
        const Calls made = calls_of(storage_info, name);
        EXPECT_EQ(made, Calls{std::string("decline ") + name + " " +
                              std::to_string(cd_last_error()) + " " + cd_last_error_message()});
    };
    expect_declined("store=file,redundancy=xro", "root");
    expect_declined("store=file,config=/levels,set_size=1", "root");
    expect_declined("store=flie,redundancy=xor", "root");
    calls();
    EXPECT_EQ(
        create_cd(nullptr, "store=file,redundancy=xor", static_cast<mpi_log>(7), "root", nullptr),
        nullptr);
    EXPECT_EQ(calls(), Calls{"decline root " + std::to_string(CD_ERROR_LOGGING_MODE) + " " +
                             cd_last_error_message()});
    EXPECT_EQ(calls_of("store=file,redundancy=none,set_size=1", "root"), Calls{});
    EXPECT_EQ(calls_of("store=memory,redundancy=xor", "root"), Calls{});
    EXPECT_EQ(calls_of("set_size=1", "root"), Calls{});
    ::setenv("CD_STORAGE_INFO", "store=file,redundancy=xor", 1);
    expect_declined("set_size=1", "root");
    EXPECT_EQ(calls_of("redundancy=none,set_size=1", "root"), Calls{});
    ::unsetenv("CD_STORAGE_INFO");
}

// Whatever else is wrong with it: no rank can know which root it is.
TEST_F(Order, ARootWhoseNameIsNoneIsDeclinedWithoutIt) {
    for (const char *name : {"a/b", "", ".hidden", static_cast<const char *>(nullptr)}) {
        for (const char *storage_info :
             {"store=file,redundancy=xor", "store=file,redundancy=xor,set_size=1"}) {
            EXPECT_EQ(create_cd(nullptr, storage_info, CD_COMM_LOGGING_DISABLED, name, nullptr),
                      nullptr);
            EXPECT_EQ(calls(), Calls{"decline  " + std::to_string(cd_last_error()) + " " +
                                     cd_last_error_message()});
        }
        EXPECT_EQ(create_cd(nullptr, "store=file", CD_COMM_LOGGING_DISABLED, name, nullptr),
                  nullptr);
        EXPECT_EQ(calls(), Calls{});
    }
}

// With a storage_info of its own a root does without the environment if that cannot be read, so
// that other ranks, which do the same, do not wait for it.
TEST_F(Order, AnEnvironmentThatCannotBeReadAsksForNothingWhereThereIsAStorageInfo) {
    ::setenv("CD_STORAGE_INFO", "store=file,redundancy=xor,bogus=1", 1);
    const auto refuse = [&](const char *storage_info, const char *name, int mode) {
        EXPECT_EQ(create_cd(nullptr, storage_info, static_cast<mpi_log>(mode), name, nullptr),
                  nullptr);
        return calls();
    };
    EXPECT_EQ(refuse("set_size=1", "root", CD_COMM_LOGGING_DISABLED), Calls{});
    EXPECT_EQ(refuse("set_size=2", "a/b", CD_COMM_LOGGING_DISABLED), Calls{});
    EXPECT_EQ(refuse("set_size=2", "root", 7), Calls{});
    EXPECT_EQ(refuse("store=file,redundancy=xor", "root", 7).size(), 1U);
    EXPECT_EQ(refuse(nullptr, "root", CD_COMM_LOGGING_DISABLED).size(), 1U);
    EXPECT_EQ(cd_last_error(), CD_ERROR_STORAGE_KEY);
    ::unsetenv("CD_STORAGE_INFO");
}

// The other ranks have this one's part in the advance all the same, and count it.
TEST_F(Order, AnAdvanceThatFailsIsSkippedWithItsEpoch) {
    begin();
    add();
    calls();
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    EXPECT_EQ(advance_cd_point_in_time(root), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_HAS_CHILDREN);
    EXPECT_NE(std::string(cd_last_error_message()), "");
    EXPECT_EQ(calls(), Calls{"skip 1"});
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
    EXPECT_EQ(info().epoch, 0U);
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS);
    EXPECT_EQ(calls(), Calls{"protect 2"});
    EXPECT_EQ(info().epoch, 2U);
    ASSERT_EQ(advance_cd_point_in_time(root), CD_SUCCESS);
    EXPECT_EQ(calls(), Calls{"protect 3"});
}

TEST_F(Order, ACommitThatAnotherRankRefusesHasNotHappenedAndCanBeRepeated) {
    begin();
    advance_with('a');
    const Calls before = files();
    protector.forget_fails = CD_ERROR_STORE_IO;
    calls();
    for (int attempt = 0; attempt < 2; ++attempt) {
        EXPECT_EQ(commit_cd(root), CD_FAILURE);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
        EXPECT_STREQ(cd_last_error_message(), "forget was told to fail");
        EXPECT_EQ(calls(), Calls{"forget"});
        EXPECT_EQ(files(), before);
    }
    fill('-');
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'a');
    advance_with('b');
    EXPECT_EQ(info().protected_epoch, 2U);
    protector.forget_fails = CD_ERROR_NONE;
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    EXPECT_EQ(files(), Calls{});
}

TEST_F(Order, ACommitThatIsRefusedIsToldToTheOthers) {
    begin();
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    calls();
    EXPECT_EQ(commit_cd(root), CD_FAILURE);
    EXPECT_EQ(calls(), Calls{"forget " + std::to_string(CD_ERROR_HAS_CHILDREN) + " " +
                             cd_last_error_message()});
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
}

TEST_F(Order, AForkedProcessLeavesTheProtectorAlone) {
    begin();
    advance_with('a');
    calls();
    EXPECT_EQ(0, in_process([&] {
                  const bool failed =
                      advance_cd_point_in_time(root) == CD_FAILURE && commit_cd(root) == CD_FAILURE;
                  return failed && info().protected_epoch == 0 && calls().empty() ? 0 : 1;
              }));
}

// Other ranks may wait for what happens after the fork. In the new process there is no half root.
TEST_F(Order, AForkDoesNotWaitForOtherRanks) {
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

TEST_F(Order, AForkDoesNotWaitForOtherRanksToAdvanceAndBothHaveThePointInTime) {
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

TEST_F(Order, AForkDoesNotWaitForOtherRanksToHearThatAnAdvanceFailed) {
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
    EXPECT_EQ(info().protected_epoch, 3U);
}

// ---- Observers -----------------------------------------------------------------------------

struct Seen {
    cd_operation operation;
    cd_error error;
    std::string name;
    bool operator==(const Seen &) const = default;
};

TEST_F(Order, AnObserverSeesWhatBecameOfTheProtection) {
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

// ---- Later ---------------------------------------------------------------------------------

TEST_F(Order, PointsThatAreProtectedLaterAreWhatTheyWere) {
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

// As the helper thread of redundancy_mode=async does it.
TEST_F(Order, AnotherThreadTakesAndReleasesPointsWhileTheStoreGoesOn) {
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

TEST_F(Order, PointsAreReleasedOnceTheRootIsGone) {
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

// ---- cd_protect_by -------------------------------------------------------------------------

TEST_F(Order, ThereIsOneProtectorInAProcess) {
    EXPECT_EQ(cd_protect_by(nullptr), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_ARGUMENT);
    cd_protector other = {};
    EXPECT_EQ(cd_protect_by(&other), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_ARGUMENT);
    other.size = sizeof other;
    EXPECT_EQ(cd_protect_by(&other), CD_FAILURE);
    EXPECT_EQ(cd_last_error(), CD_ERROR_ARGUMENT);
    begin();
    EXPECT_EQ(calls(), (Calls{"open 0 root", "opened"}));
}

} // namespace
