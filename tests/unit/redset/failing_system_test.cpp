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
#include <functional>
#include <string>
#include <vector>

namespace cd::redset {
namespace {

constexpr int never = 1 << 30;

// The call with a number refuses: of those that change something, or of those that look at files.
enum class Calls { that_change, that_look };
class FailingSystem : public ReplacedSystem {
public:
    explicit FailingSystem(Calls calls) : calls_(calls) {}

    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const bool creates = (flags & O_CREAT) != 0;
        return fails(creates ? Calls::that_change : Calls::that_look, EMFILE)
                   ? -1
                   : System::open_at(directory, name, flags, mode);
    }
    int attributes(int fd, os::FileAttributes &attributes) override {
        return fails(Calls::that_look, EIO) ? -1 : System::attributes(fd, attributes);
    }
    int status(int fd, os::FileStatus &status) override {
        return fails(Calls::that_look, EIO) ? -1 : System::status(fd, status);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        return fails(Calls::that_look, EIO) ? -1 : System::read_at(fd, to, length, offset);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        renaming = true;
        return fails(Calls::that_change, EIO) ? -1 : System::rename_at(directory, from, to);
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        return fails(Calls::that_change, ENOSPC) ? -1 : System::write_at(fd, from, length, offset);
    }
    int set_mode(int fd, mode_t mode) override {
        return fails(Calls::that_change, EIO) ? -1 : System::set_mode(fd, mode);
    }
    int set_times(int fd, timespec accessed, timespec modified) override {
        return fails(Calls::that_change, EIO) ? -1 : System::set_times(fd, accessed, modified);
    }
    int sync_all(int) override { return fails(Calls::that_change, EIO) ? -1 : 0; } // disks are slow

    // Runs `work`, in which the call with this number refuses.
    Status run(int call, const std::function<Status()> &work) {
        renaming = false;
        failing = call;
        const Status status = work();
        failing = never;
        return status;
    }

    std::atomic<int> failing = never; // of the calls from now on
    std::atomic<bool> failed = false;
    std::atomic<bool> renaming = false; // since it was set back

private:
    bool fails(Calls calls, int error) {
        if (calls != calls_ || failing.fetch_sub(1) != 0) {
            return false;
        }
        errno = error;
        failed = true;
        return true;
    }

    const Calls calls_;
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

// How often a rebuild failed, and how often it succeeded although a call had refused.
struct Outcomes {
    int failures = 0;
    int recoveries = 0;
};

bool is_failure_of(Calls calls, const Status &status) {
    const std::string text = message();
    return calls == Calls::that_change
               ? text.starts_with("member ") &&
                     (status.code() == CD_ERROR_STORE_IO || status.code() == CD_ERROR_STORE_FULL)
               : !text.empty();
}

// Rebuilds once for each call that can refuse.
Outcomes refuse_each_call_of_a_rebuild(Calls calls, const Set &set,
                                       const std::vector<std::vector<uint64_t>> &sizes,
                                       const std::vector<int> &lost, bool sync = false) {
    Outcomes outcomes;
    for (int call = 0; !testing::Test::HasFailure(); ++call) {
        SCOPED_TRACE(call);
        FailingSystem system(calls);
        ScratchSet scratch(set, sizes);
        scratch.sync = sync;
        EXPECT_TRUE(scratch.apply()) << message();
        const FolderState before = scratch.state();
        for (const int member : lost) {
            scratch.erase(member);
        }
        const FolderState left = scratch.state();
        const Status status = system.run(call, [&] { return scratch.rebuild(); });
        const FolderState after = scratch.state();
        if (status) {
            EXPECT_TRUE(contents(after) == contents(before));
        } else {
            EXPECT_TRUE(is_failure_of(calls, status)) << status.code() << " " << message();
            EXPECT_TRUE(system.renaming ? each_is_one_of(after, left, before) : after == left);
            EXPECT_TRUE(scratch.rebuild()) << message();
            EXPECT_TRUE(contents(scratch.state()) == contents(before));
        }
        if (!system.failed) {
            EXPECT_TRUE(status) << message();
            break;
        }
        ++(status ? outcomes.recoveries : outcomes.failures);
    }
    return outcomes;
}

TEST(FailingSystem, ARebuildThatFailsAnywhereLeavesFilesAsTheyWere) {
    const Outcomes outcomes =
        refuse_each_call_of_a_rebuild(Calls::that_change, single_set({Scheme::reed_solomon, 4, 2}),
                                      {{300, 200'000}, {7}, {}, {1000, 0}}, {0, 3}, true);
    EXPECT_GT(outcomes.failures, 30);
    EXPECT_EQ(outcomes.recoveries, 0);
}

// What cannot be read counts as lost, and comes back if that is covered.
TEST(FailingSystem, ARebuildThatCannotReadSomethingBringsAllBackOrLeavesFilesAsTheyWere) {
    const Outcomes outcomes =
        refuse_each_call_of_a_rebuild(Calls::that_look, single_set({Scheme::reed_solomon, 4, 2}),
                                      {{300, 20'000}, {7}, {}, {1000, 0}}, {3});
    EXPECT_GT(outcomes.failures, 10);
    EXPECT_GT(outcomes.recoveries, 5);
}

// Gives how often an apply failed.
int refuse_each_call_of_an_apply(Calls calls, bool sync) {
    int failures = 0;
    for (int call = 0; !testing::Test::HasFailure(); ++call) {
        SCOPED_TRACE(call);
        FailingSystem system(calls);
        ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{300, 20'000}, {7}, {}});
        scratch.sync = sync;
        const FolderState before = scratch.state();
        const Status status = system.run(call, [&] { return scratch.apply(); });
        const bool renaming = system.renaming;
        const FolderState left = scratch.state();
        EXPECT_TRUE(scratch.apply()) << message();
        const FolderState after = scratch.state();
        scratch.erase(1);
        EXPECT_TRUE(scratch.rebuild()) << message();
        EXPECT_TRUE(contents(scratch.state()) == contents(after));
        if (!system.failed) {
            EXPECT_TRUE(status) << message();
            break;
        }
        if (!status) {
            ++failures;
            EXPECT_TRUE(renaming ? each_is_one_of(left, before, after) : left == before);
        }
    }
    return failures;
}

TEST(FailingSystem, AnApplyThatCannotReadSomethingLeavesFilesAsTheyWere) {
    EXPECT_GT(refuse_each_call_of_an_apply(Calls::that_look, false), 10);
}

TEST(FailingSystem, AnApplyThatFailsAnywhereLeavesFilesAsTheyWere) {
    EXPECT_GT(refuse_each_call_of_an_apply(Calls::that_change, true), 15);
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
int lie_at_each_read(const Coding &coding, Loss loss = Loss::all) {
    int refused = 0;
    for (int call = 0; !testing::Test::HasFailure(); ++call) {
        SCOPED_TRACE(call);
        LyingSystem system;
        ScratchSet scratch(single_set(coding), {{300, 20'000}, {7}, {50'000}, {1000, 0}});
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

} // namespace
} // namespace cd::redset
