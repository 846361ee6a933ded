// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/encode.h"

#include "redset/thread_exchange.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

TEST(Apply, WritesWhatUpstreamWrote) {
    const AttributesOfVectors system;
    size_t files = 0;
    for (const VectorCase &vector : vector_cases()) {
        for (const VectorCase::Set &members : vector.sets) {
            const auto scratch = scratch_set(vector, members);
            const FolderState before = scratch->state();
            ASSERT_TRUE(scratch->apply()) << message();
            const FolderState after = scratch->state();
            for (const auto &[name, state] : before) {
                EXPECT_TRUE(after.at(name) == state) << name;
            }
            for (size_t member = 0; member < members.ranks.size(); ++member) {
                const auto own = static_cast<int>(member);
                for (const std::string &path : {scratch->place().scheme_file(scratch->set(), own),
                                                scratch->place().descriptor(scratch->set(), own)}) {
                    const fs::path name = fs::path(path).filename();
                    EXPECT_TRUE(bytes_of(path) == bytes_of(vector.folder / "red" / name))
                        << vector.folder << name;
                    ++files;
                }
            }
            EXPECT_EQ(after.size(), before.size() + 3 * members.ranks.size());
        }
    }
    EXPECT_EQ(files, 144u);
}

TEST(Apply, AFailureOfOneMemberIsThatOfAllAndChangesNothing) {
    ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{100}, {50}, {}});
    fs::remove(scratch.folder() / "in/r1_f0.dat");
    const FolderState before = scratch.state();
    std::atomic<int> told = 0;
    const Status status = run_members(3, [&](Exchange &exchange) {
        const Status own =
            apply(exchange, scratch.set(), scratch.place(), scratch.names(exchange.self()), {});
        const std::string text = message();
        told += own.code() == CD_ERROR_STORE_IO && text.find("member 1: ") == 0 &&
                        text.find("in/r1_f0.dat") != std::string::npos
                    ? 1
                    : 0;
        return own;
    });
    EXPECT_EQ(status.code(), CD_ERROR_STORE_IO) << message();
    EXPECT_EQ(told, 3);
    EXPECT_TRUE(scratch.state() == before);
}

// Another program writes to the file when members have told each other of it.
TEST(Apply, OfAFileThatChangesMeanwhileFailsAndLeavesNothing) {
    class ChangesWhatIsOpenedAgain : public ReplacedSystem {
    public:
        int open_at(int directory, const char *name, int flags, mode_t mode) override {
            const fs::path path = name;
            if (path.filename() == "r1_f0.dat" && ++opened_ == 2) {
                fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
            }
            return System::open_at(directory, name, flags, mode);
        }

    private:
        std::atomic<int> opened_ = 0;
    } system;
    ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{100}, {50}, {}});
    const size_t files = scratch.state().size();
    EXPECT_EQ(scratch.apply().code(), CD_ERROR_ARGUMENT);
    EXPECT_NE(std::string(message()).find("r1_f0.dat: the file changed while it was being encoded"),
              std::string::npos)
        << message();
    EXPECT_EQ(scratch.state().size(), files);
}

TEST(Apply, AgainReplacesWhatWasThere) {
    ScratchSet scratch(single_set({Scheme::reed_solomon, 4, 2}), {{100}, {50, 7}, {}, {0}});
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState first = scratch.state();
    write_file(scratch.folder() / "in/r0_f0.dat", std::vector<std::byte>(1000));
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState second = scratch.state();
    EXPECT_EQ(first.size(), second.size());
    EXPECT_FALSE(first == second);
}

TEST(Apply, WhatCannotBeStoredIsAnError) {
    ScratchSet scratch(single_set({Scheme::single, 1, 0}), {{100}});
    fs::create_directory(scratch.folder() / "in/folder");
    const FolderState before = scratch.state();
    const auto code = [&](const std::string &name) {
        return run_members(1,
                           [&](Exchange &exchange) {
                               return apply(exchange, scratch.set(), scratch.place(), {name}, {});
                           })
            .code();
    };
    EXPECT_EQ(code("in/absent"), CD_ERROR_STORE_IO);
    EXPECT_EQ(code("in/folder"), CD_ERROR_STORE_IO);
    EXPECT_EQ(code(""), CD_ERROR_ARGUMENT);
    EXPECT_EQ(code(std::string(1024, 'x')), CD_ERROR_ARGUMENT);
    EXPECT_EQ(code(std::string("in/r0_f0.dat\0x", 14)), CD_ERROR_ARGUMENT);
    EXPECT_TRUE(scratch.state() == before);
}

TEST(Apply, ASetThatCannotBeIsAnError) {
    const auto code = [](const Set &set, int members) {
        return run_members(members,
                           [&](Exchange &exchange) {
                               return apply(exchange, set, {"/nowhere", ""}, {}, {});
                           })
            .code();
    };
    Set set = single_set({Scheme::xor_set, 3, 1});
    EXPECT_EQ(code(set, 2), CD_ERROR_ARGUMENT);
    set.coding.checks = 2;
    EXPECT_EQ(code(set, 3), CD_ERROR_ARGUMENT);
    set = single_set({Scheme::xor_set, 3, 1});
    set.ranks[2] = 1;
    EXPECT_EQ(code(set, 3), CD_ERROR_ARGUMENT);
    set.ranks[2] = 3;
    EXPECT_EQ(code(set, 3), CD_ERROR_ARGUMENT);
    set = single_set({Scheme::xor_set, 3, 1});
    set.group = 1;
    EXPECT_EQ(code(set, 3), CD_ERROR_ARGUMENT);
}

// Members do not meet when one of them never comes: that is the exchange's error, not a wait.
TEST(RunMembers, AMemberThatLeavesIsMissedByTheOthers) {
    const Status status = run_members(3, [](Exchange &exchange) {
        return exchange.self() == 1 ? fail(CD_ERROR_FILE_SYSTEM, "I leave")
                                    : agree(exchange, Status::ok());
    });
    EXPECT_FALSE(status);
}

TEST(RunMembers, TheFailureThatTheOthersFollowedIsTold) {
    for (int failing = 0; failing < 4; ++failing) {
        const Status status = run_members(4, [&](Exchange &exchange) {
            if (exchange.self() == failing) {
                return fail(CD_ERROR_STORE_FULL, "member %d has no room", failing);
            }
            return agree(exchange, Status::ok());
        });
        EXPECT_EQ(status.code(), CD_ERROR_STORE_FULL);
        EXPECT_EQ(std::string(message()), "member " + std::to_string(failing) + " has no room");
    }
}

} // namespace
} // namespace cd::redset
