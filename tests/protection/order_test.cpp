// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The calls that a protector gets, and their arguments.

#include "fake_protector.h"

#include <filesystem>

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
    EXPECT_EQ(calls(), (Calls{"commit", "close"}));
    EXPECT_EQ(files(), Calls{});
}

TEST_F(Order, TheProtectorIsToldWhatIsInForce) {
    begin(",set_size=4,group=rack,redundancy_mode=async,flush=/lustre,flush_interval=5");
    EXPECT_EQ(protector.directory, local);
    EXPECT_EQ(protector.settings, "scheme 3:0 of 4, group rack, config , flush /lustre of 5, "
                                  "async 1, sync 1");
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

TEST_F(Order, ACommitThatAnotherRankRefusesHasNotHappenedAndCanBeRepeated) {
    begin();
    advance_with('a');
    const Calls before = files();
    protector.commit_fails = CD_ERROR_STORE_IO;
    calls();
    for (int attempt = 0; attempt < 2; ++attempt) {
        EXPECT_EQ(commit_cd(root), CD_FAILURE);
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
        EXPECT_STREQ(cd_last_error_message(), "commit was told to fail");
        EXPECT_EQ(calls(), Calls{"commit"});
        EXPECT_EQ(files(), before);
    }
    fill('-');
    ASSERT_EQ(restore_cd(root), CD_SUCCESS);
    EXPECT_EQ(memory.front(), 'a');
    advance_with('b');
    EXPECT_EQ(info().protected_epoch, 2U);
    protector.commit_fails = CD_ERROR_NONE;
    ASSERT_EQ(commit_cd(root), CD_SUCCESS);
    root = nullptr;
    EXPECT_EQ(files(), Calls{});
}

TEST_F(Order, ACommitThatIsRefusedIsToldToTheOthers) {
    begin();
    const cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    calls();
    EXPECT_EQ(commit_cd(root), CD_FAILURE);
    EXPECT_EQ(calls(), Calls{"commit " + std::to_string(CD_ERROR_HAS_CHILDREN) + " " +
                             cd_last_error_message()});
    ASSERT_EQ(commit_cd(child), CD_SUCCESS);
}

TEST_F(Order, ThereIsOneProtectorInAProcess) {
    cd_protector without_size = {};
    cd_protector other = {};
    other.size = sizeof other;
    for (const cd_protector *refused :
         {static_cast<cd_protector *>(nullptr), &without_size, &other}) {
        EXPECT_EQ(cd_protect_by(refused), CD_FAILURE);
        EXPECT_EQ(cd_last_error(), CD_ERROR_ARGUMENT);
    }
    begin();
    EXPECT_EQ(calls(), (Calls{"open 0 root", "opened"}));
}

TEST_F(Order, AForkedProcessLeavesTheProtectorAlone) {
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

} // namespace
