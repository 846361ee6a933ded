// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A root that cannot be created: what the protector hears of it, and what is left.

#include "fake_protector.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace {

using Calls = std::vector<std::string>;

class Creating : public Protected {
protected:
    void create_plain() {
        const std::string plain = "store=file,sync=none,dir=" + local.string();
        root = create_cd(nullptr, plain.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
        ASSERT_NE(root, nullptr) << cd_last_error_message();
    }
    // Leaves a store by a process that ends without a commit.
    void leave_a_plain_store() {
        ASSERT_EQ(0, in_process([&] {
                      create_plain();
                      advance_with('a');
                      return info().epoch == 1 ? 0 : 1;
                  }));
    }
};

// The directory is like /dev/shm.
TEST_F(Creating, ARootInADirectoryToWhichAllMayWriteHasOneOfTheUsersOwnThere) {
    const auto shared = local;
    std::filesystem::create_directory(shared);
    ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
    local /= "cd-stores-" + std::to_string(::getuid());
    root = create_cd(nullptr, ("store=file,redundancy=xor,dir=" + shared.string()).c_str(),
                     CD_COMM_LOGGING_DISABLED, "root", nullptr);
    ASSERT_NE(root, nullptr) << cd_last_error_message();
    EXPECT_EQ(protector.directory, local);
    EXPECT_EQ(files(), Calls{"0-root.cds"});
    EXPECT_EQ(std::filesystem::status(local).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(Creating, ARootThatCannotBeOpenedIsNotCreated) {
    protector.open_fails = CD_ERROR_REDUNDANCY_EXCEEDED;
    EXPECT_EQ(create(), nullptr);
    EXPECT_EQ(cd_last_error(), CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_STREQ(cd_last_error_message(), "open was told to fail");
    EXPECT_EQ(calls(), Calls{"open 0 root"});
    EXPECT_FALSE(std::filesystem::exists(local));
    protector.open_fails = CD_ERROR_NONE;
    begin();
}

TEST_F(Creating, ARootWhoseStoreCannotBeOpenedIsToldToTheOthersAndClosed) {
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

TEST_F(Creating, ARootThatAnotherRankCannotOpenIsNotCreatedAndCanBeLater) {
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

// An earlier start has set the store aside and has never advanced.
TEST_F(Creating, WithoutRedundancySaysWhatIsBesideTheStoreThatItTakes) {
    leave_a_plain_store();
    ASSERT_EQ(0, in_process([&] { return create() != nullptr ? 0 : 1; }));
    ASSERT_EQ(files(), (Calls{"0-root.cds", "0-root.cds.old"}));
    testing::internal::CaptureStderr();
    create_plain();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "containment-domains: " + (local / "0-root.cds").string() +
                  ": the root goes on from it; 0-root.cds.old beside it, which an earlier start "
                  "has put aside, goes with the next advance: to go on from that instead, end the "
                  "program before, and rename it to 0-root.cds\n");
    EXPECT_EQ(info().epoch, 0U);
}

// Another rank may be in the creation already; it must not wait for this one.
TEST_F(Creating, ARootThatCannotBeCreatedIsDeclined) {
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
TEST_F(Creating, ARootThatCannotBeReadIsDeclinedIfItSeemsToHaveRedundancy) {
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
    expect_declined("stroe=file,redundancy=xor", "root");
    expect_declined("redundancy=xor", "root");
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
TEST_F(Creating, ARootWithoutAValidNameIsDeclinedWithoutAName) {
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
TEST_F(Creating, AnEnvironmentThatCannotBeReadAsksForNothingWhereThereIsAStorageInfo) {
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

} // namespace
