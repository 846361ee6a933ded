// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Each system call in turn refuses: all members get an error, files are as they were, and the next
// attempt succeeds.
#include "../replaced_system.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>

namespace cd::redset {
namespace {

constexpr int never = 1 << 30;

// Of the calls that change something, the one with a number fails.
class FailingSystem : public ReplacedSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const bool creates = (flags & O_CREAT) != 0;
        return creates && fails(EMFILE) ? -1 : System::open_at(directory, name, flags, mode);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        renaming = true;
        return fails(EIO) ? -1 : System::rename_at(directory, from, to);
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        return fails(ENOSPC) ? -1 : System::write_at(fd, from, length, offset);
    }
    int set_mode(int fd, mode_t mode) override {
        return fails(EIO) ? -1 : System::set_mode(fd, mode);
    }
    int set_times(int fd, timespec accessed, timespec modified) override {
        return fails(EIO) ? -1 : System::set_times(fd, accessed, modified);
    }
    int sync_all(int) override { return fails(EIO) ? -1 : 0; } // disks are slow

    std::atomic<int> failing = never; // of the calls from now on
    std::atomic<bool> failed = false;
    std::atomic<bool> renaming = false; // since it was set back

private:
    bool fails(int error) {
        if (failing.fetch_sub(1) != 0) {
            return false;
        }
        errno = error;
        failed = true;
        return true;
    }
};

// Names change one by one, so a file may have either state then; each is whole.
bool each_is_one_of(const FolderState &state, const FolderState &before, const FolderState &after) {
    for (const auto &[name, file] : state) {
        const bool was = before.contains(name) && before.at(name).bytes == file.bytes;
        const bool is = after.contains(name) && after.at(name).bytes == file.bytes;
        if (!was && !is) {
            return false;
        }
    }
    return true;
}

TEST(FailingSystem, ARebuildThatFailsAnywhereLeavesFilesAsTheyWere) {
    const Set set = single_set({Scheme::reed_solomon, 4, 2});
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        FailingSystem system;
        ScratchSet scratch(set, {{300, 200'000}, {7}, {}, {1000, 0}});
        scratch.sync = true;
        ASSERT_TRUE(scratch.apply()) << message();
        const FolderState before = scratch.state();
        scratch.erase(0);
        scratch.erase(3);
        const FolderState left = scratch.state();
        system.renaming = false;
        system.failing = call;
        const Status status = scratch.rebuild();
        system.failing = never;
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            ASSERT_TRUE(contents(scratch.state()) == contents(before));
            break;
        }
        ++failures;
        ASSERT_FALSE(status);
        ASSERT_EQ(std::string(message()).find("member "), 0u) << message();
        if (system.renaming) {
            ASSERT_TRUE(each_is_one_of(scratch.state(), left, before));
        } else {
            ASSERT_TRUE(scratch.state() == left) << message();
        }
        ASSERT_TRUE(scratch.rebuild()) << message();
        ASSERT_TRUE(contents(scratch.state()) == contents(before));
    }
    EXPECT_GT(failures, 30);
}

// What is left is read once, since all of it is a source.
TEST(FailingSystem, ARebuildInOnePassIsNotRepeatedWhenItCannotWrite) {
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        FailingSystem system;
        ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{3000}, {3000}, {3000}});
        ASSERT_TRUE(scratch.apply()) << message();
        scratch.erase(1);
        const FolderState left = scratch.state();
        system.renaming = false;
        system.failing = call;
        const Status status = scratch.rebuild();
        system.failing = never;
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            break;
        }
        ++failures;
        EXPECT_TRUE(status.code() == CD_ERROR_STORE_IO || status.code() == CD_ERROR_STORE_FULL)
            << status.code() << " " << message();
        EXPECT_TRUE(system.renaming || scratch.state() == left);
    }
    EXPECT_GT(failures, 5);
}

// Of the reads, the one with a number fails.
class UnreadableSystem : public ReplacedSystem {
public:
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        if (failing.fetch_sub(1) == 0) {
            errno = EIO;
            failed = true;
            return -1;
        }
        return System::read_at(fd, to, length, offset);
    }

    std::atomic<int> failing = never;
    std::atomic<bool> failed = false;
};

// It is one loss, if it is no more by then.
TEST(FailingSystem, WhatCannotBeReadIsLookedForInASecondPass) {
    int brought_back = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        UnreadableSystem system;
        ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{3000}, {3000}, {3000}});
        ASSERT_TRUE(scratch.apply()) << message();
        const FolderState before = scratch.state();
        scratch.erase(1);
        system.failing = call;
        const Status status = scratch.rebuild();
        system.failing = never;
        if (!system.failed) {
            break;
        }
        brought_back += status ? 1 : 0;
        EXPECT_TRUE(status || status.code() == CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        ASSERT_TRUE(scratch.rebuild()) << message();
        EXPECT_TRUE(contents(scratch.state()) == contents(before));
    }
    EXPECT_GT(brought_back, 3);
}

// Of the reads, the one with a number delivers a bit that is wrong.
class LyingSystem : public ReplacedSystem {
public:
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        const ssize_t got = System::read_at(fd, to, length, offset);
        if (lying.fetch_sub(1) == 0) {
            static_cast<unsigned char *>(to)[0] ^= 1;
            lied = true;
        }
        return got;
    }

    std::atomic<int> lying = never;
    std::atomic<bool> lied = false;
};

// Gives how often a rebuild was refused.
enum class Loss { all, redundancy };
int lie_at_each_read(const Shape &shape, Loss loss = Loss::all) {
    int refused = 0;
    for (int call = 0; !testing::Test::HasFailure(); ++call) {
        SCOPED_TRACE(call);
        LyingSystem system;
        ScratchSet scratch(single_set(shape), {{300, 20'000}, {7}, {50'000}, {1000, 0}});
        EXPECT_TRUE(scratch.apply()) << message();
        const FolderState before = scratch.state();
        if (loss == Loss::all) {
            scratch.erase(2);
        } else {
            std::filesystem::remove(scratch.place().scheme_file(scratch.set(), 2));
        }
        const FolderState left = scratch.state();
        system.lying = call;
        const Status status = scratch.rebuild();
        system.lying = never;
        if (status) {
            EXPECT_TRUE(contents(scratch.state()) == contents(before));
        } else {
            EXPECT_TRUE(scratch.state() == left) << message();
            ++refused;
        }
        if (!system.lied) {
            EXPECT_TRUE(status) << message();
            EXPECT_GT(call, 20);
            break;
        }
    }
    return refused;
}

TEST(FailingSystem, ABitThatIsReadWrongNeverEndsUpInAFile) {
    EXPECT_GT(lie_at_each_read({Scheme::partner, 4, 1}), 0);
}

TEST(FailingSystem, ABitThatIsReadWrongNeverEndsUpInRedundancy) {
    EXPECT_GT(lie_at_each_read({Scheme::partner, 4, 1}, Loss::redundancy), 0);
}

// Who was trusted and is wrong is looked at again.
TEST(FailingSystem, ABitThatIsReadWrongOnceIsNoLossWhereAllIsReadOnce) {
    EXPECT_EQ(lie_at_each_read({Scheme::xor_set, 4, 1}), 0);
}

struct CountingSystem : ReplacedSystem {
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        const ssize_t got = System::read_at(fd, to, length, offset);
        bytes += static_cast<uint64_t>(std::max<ssize_t>(got, 0));
        return got;
    }

    std::atomic<uint64_t> bytes = 0;
};

// All ranks wait for it, with whatever they have.
TEST(Rebuild, ThatTooMuchIsGoneIsFoundWithoutReadingAllThatIsLeft) {
    ScratchSet scratch(single_set({Scheme::xor_set, 4, 1}),
                       {{500'000}, {500'000}, {500'000}, {500'000}});
    ASSERT_TRUE(scratch.apply()) << message();
    scratch.erase(0);
    scratch.erase(2);
    const CountingSystem system;
    EXPECT_EQ(scratch.rebuild().code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
    EXPECT_LT(system.bytes, 100'000U);
}

// Of the calls that look at files, the one with a number fails.
class BlindSystem : public ReplacedSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const bool creates = (flags & O_CREAT) != 0;
        return !creates && fails(EMFILE) ? -1 : System::open_at(directory, name, flags, mode);
    }
    int attributes(int fd, os::FileAttributes &attributes) override {
        return fails(EIO) ? -1 : System::attributes(fd, attributes);
    }
    int status(int fd, os::FileStatus &status) override {
        return fails(EIO) ? -1 : System::status(fd, status);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        // Not what is tried again.
        return fails(ENOMEM) ? -1 : System::read_at(fd, to, length, offset);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        renaming = true;
        return System::rename_at(directory, from, to);
    }
    int sync_all(int) override { return 0; }

    std::atomic<int> failing = never; // of the calls from now on
    std::atomic<bool> failed = false;
    std::atomic<bool> renaming = false;

private:
    bool fails(int error) {
        if (failing.fetch_sub(1) != 0) {
            return false;
        }
        errno = error;
        failed = true;
        return true;
    }
};

// What cannot be read counts as lost, and comes back if that is covered.
TEST(FailingSystem, ARebuildThatCannotReadSomethingBringsAllBackOrLeavesFilesAsTheyWere) {
    const Set set = single_set({Scheme::reed_solomon, 4, 2});
    int failures = 0;
    int recoveries = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        BlindSystem system;
        ScratchSet scratch(set, {{300, 20'000}, {7}, {}, {1000, 0}});
        ASSERT_TRUE(scratch.apply()) << message();
        const FolderState before = scratch.state();
        scratch.erase(3);
        const FolderState left = scratch.state();
        system.renaming = false;
        system.failing = call;
        const Status status = scratch.rebuild();
        system.failing = never;
        const FolderState after = scratch.state();
        if (status) {
            ASSERT_TRUE(contents(after) == contents(before));
            recoveries += system.failed ? 1 : 0;
        } else {
            ++failures;
            ASSERT_STRNE(message(), "");
            ASSERT_TRUE(system.renaming ? each_is_one_of(after, left, before) : after == left);
            ASSERT_TRUE(scratch.rebuild()) << message();
            ASSERT_TRUE(contents(scratch.state()) == contents(before));
        }
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            break;
        }
    }
    EXPECT_GT(failures, 10);
    EXPECT_GT(recoveries, 5);
}

TEST(FailingSystem, AnApplyThatCannotReadSomethingLeavesFilesAsTheyWere) {
    const Set set = single_set({Scheme::xor_set, 3, 1});
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        BlindSystem system;
        ScratchSet scratch(set, {{300, 20'000}, {7}, {}});
        const FolderState before = scratch.state();
        system.failing = call;
        const Status status = scratch.apply();
        system.failing = never;
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            break;
        }
        if (!status) {
            ++failures;
            ASSERT_TRUE(scratch.state() == before);
            ASSERT_TRUE(scratch.apply()) << message();
        }
        const FolderState after = scratch.state();
        scratch.erase(1);
        ASSERT_TRUE(scratch.rebuild()) << message();
        ASSERT_TRUE(contents(scratch.state()) == contents(after));
    }
    EXPECT_GT(failures, 10);
}

TEST(FailingSystem, AnApplyThatFailsAnywhereLeavesFilesAsTheyWere) {
    const Set set = single_set({Scheme::xor_set, 3, 1});
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        FailingSystem system;
        ScratchSet scratch(set, {{300, 20'000}, {7}, {}});
        scratch.sync = true;
        const FolderState before = scratch.state();
        system.renaming = false;
        system.failing = call;
        const Status status = scratch.apply();
        system.failing = never;
        const bool renaming = system.renaming;
        const FolderState left = scratch.state();
        ASSERT_TRUE(scratch.apply()) << message();
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            break;
        }
        ++failures;
        ASSERT_FALSE(status);
        const FolderState after = scratch.state();
        ASSERT_TRUE(renaming ? each_is_one_of(left, before, after) : left == before);
    }
    EXPECT_GT(failures, 15);
}

} // namespace
} // namespace cd::redset
