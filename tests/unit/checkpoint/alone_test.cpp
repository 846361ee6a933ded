// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What becomes of the others when one rank fails alone.

#include "each_fault.h"

#include <fcntl.h>

#include <cerrno>

namespace cd::checkpoint {
namespace {

struct NoRoom {
    static void arm(int nth) { FailingSystem::fail_call(nth); }
    static bool happened() { return FailingSystem::happened(); }
};

class Alone : public testing::Test {
protected:
    FailingSystem system;
    Cluster cluster{fault_nodes};
};

TEST_F(Alone, WhoCannotOpenItsStoreTellsAll) {
    cluster.run({1});
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto run = cluster.run_steps([](Cluster::Rank &self) {
            return self.checkpointer().agree_on(
                self.number() == 2 ? fail(CD_ERROR_STORE_FULL, "no room here") : Status::ok());
        });
        EXPECT_EQ(run.outcome().code, CD_ERROR_STORE_FULL);
        EXPECT_EQ(run.outcome().text, "rank 2: no room here");
    }
    EXPECT_EQ(cluster.run({2}).start(), 1U);
}

TEST_F(Alone, WhoCannotAdvanceTellsAllAndNobodyDoes) {
    for (const Mode mode : {Mode::sync, Mode::async}) {
        const TimeLimit limit(20);
        Cluster own(fault_nodes);
        own.mode = mode;
        const auto run = own.run_steps([&](Cluster::Rank &self) {
            EXPECT_TRUE(self.protect(1));
            const Status refused = self.checkpointer().may_advance(
                2, self.number() == 1 ? fail(CD_ERROR_STORE_FULL, "no room here") : Status::ok());
            EXPECT_EQ(refused.code(), CD_ERROR_STORE_FULL);
            EXPECT_STREQ(message(), "rank 1: no room here");
            EXPECT_TRUE(self.protect(2));
            return self.checkpointer().wait();
        });
        EXPECT_EQ(run.outcome().text, "");
        EXPECT_EQ(own.run({}).start(), 2U);
        EXPECT_EQ(system.told(), std::vector<std::string>{});
    }
}

TEST_F(Alone, WhoCannotWriteDownThatAPointInTimeCountsLeavesTheOneBefore) {
    class WritesNothingDown : public DyingSystem {
    public:
        int rename_at(int directory, const char *from, const char *to) override {
            errno = EIO;
            return refuses && std::string_view(to).ends_with(".agreed")
                       ? -1
                       : DyingSystem::rename_at(directory, from, to);
        }
        std::atomic<bool> refuses = false;
    } refusing;
    cluster.run({1});
    refusing.refuses = true;
    cluster.run_steps([](Cluster::Rank &self) {
        (void)self.protect(2).is_ok(); // which is told
        (void)self.checkpointer().wait().is_ok();
        EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
        return Status::ok();
    });
    EXPECT_EQ(refusing.told().size(), 1U);
    refusing.refuses = false;
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

// What is left would come back without that.
TEST_F(Alone, WhoCannotRemoveWhatIsForgottenKeepsWhatSaysSo) {
    class KeepsARecord : public DyingSystem {
    public:
        int unlink_at(int directory, const char *name) override {
            errno = EIO;
            return keeps && std::string_view(name) == "1.agreed"
                       ? -1
                       : DyingSystem::unlink_at(directory, name);
        }
        std::atomic<bool> keeps = true;
    } keeping;
    EXPECT_EQ(cluster.run({1}, true).outcome().text, "");
    EXPECT_EQ(keeping.told().size(), 1U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    keeping.keeps = false;
    EXPECT_EQ(cluster.run({2}).start(), std::nullopt);
}

// By its number in the program, and not in its set.
TEST(AloneInItsSet, WhoHasNoRoomForWhatItProtectsIsNamed) {
    class RoomForOthers : public DyingSystem {
    public:
        int open_at(int directory, const char *name, int flags, mode_t mode) override {
            const std::string_view path = name;
            errno = ENOSPC;
            return (flags & O_CREAT) != 0 && path.find("/.cd-draft.5-") != path.npos
                       ? -1
                       : DyingSystem::open_at(directory, name, flags, mode);
        }
    } system;
    Cluster cluster({"n0", "n1", "n2", "n3"});
    cluster.ranks = {1, 3, 5, 7};
    cluster.run_steps([&](Cluster::Rank &self) {
        (void)self.protect(1).is_ok();
        return self.checkpointer().wait();
    });
    ASSERT_EQ(system.told().size(), 1U);
    EXPECT_NE(system.told().front().find("no epoch is protected: rank 5: "), std::string::npos)
        << system.told().front();
}

// A program that leaves its loop too early somewhere.
TEST_F(Alone, WhoCommitsWhileOthersAdvanceDoesNeither) {
    for (const Mode mode : {Mode::sync, Mode::async}) {
        const TimeLimit limit(20);
        Cluster own(fault_nodes);
        own.mode = mode;
        const auto run = own.run_steps([&](Cluster::Rank &self) {
            EXPECT_TRUE(self.protect(1));
            const bool commits = self.number() == 1;
            const Status refused = commits ? self.checkpointer().commit_root(Status::ok())
                                           : self.checkpointer().may_advance(2, Status::ok());
            EXPECT_EQ(refused.code(), CD_ERROR_ARGUMENT);
            EXPECT_STREQ(message(), commits ? "rank 0 advances it to epoch 2 while this one "
                                              "commits the root; with redundancy all ranks do the "
                                              "same; nothing was changed"
                                            : "rank 1 commits the root while this one advances it "
                                              "to epoch 2; with redundancy all ranks do the same; "
                                              "nothing was changed");
            EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
            return Status::ok();
        });
        EXPECT_EQ(run.outcome().text, "");
        EXPECT_EQ(own.run({}).start(), 1U);
    }
}

// Where nobody could tell before: it is over for all, and the next one counts.
TEST_F(Alone, WhoFailsWhenAllHaveAgreedTellsAllAndTheNextAdvanceCounts) {
    for (const Mode mode : {Mode::sync, Mode::async}) {
        const TimeLimit limit(20);
        Cluster own(fault_nodes);
        own.mode = mode;
        const auto run = own.run_steps([&](Cluster::Rank &self) {
            EXPECT_TRUE(self.protect(1));
            Status second = self.number() == 1 ? self.miss(2) : self.protect(2);
            second = mode == Mode::sync ? second : self.checkpointer().wait();
            EXPECT_EQ(second.code(), CD_ERROR_STORE_IO);
            EXPECT_NE(std::string(message()).find("rank 1: its record cannot be"),
                      std::string::npos)
                << message();
            EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
            EXPECT_TRUE(self.protect(3));
            EXPECT_TRUE(self.checkpointer().wait());
            EXPECT_EQ(self.checkpointer().protected_epoch(), 3U);
            return Status::ok();
        });
        EXPECT_EQ(run.outcome().text, "");
        EXPECT_EQ(own.run({}).start(), 3U);
    }
}

// Whoever it is that fails, also the one that tells of it.
TEST_F(Alone, PeopleAreToldOnceOfTheEpochThatIsNotProtected) {
    for (const Mode mode : {Mode::sync, Mode::async}) {
        for (const int failing : {0, 1}) {
            const TimeLimit limit(20);
            const FailingSystem own_system;
            Cluster own(fault_nodes);
            own.mode = mode;
            own.run_steps([&](Cluster::Rank &self) {
                EXPECT_TRUE(self.protect(4));
                (void)(self.number() == failing ? self.miss(5) : self.protect(5)).is_ok();
                (void)self.protect(6).is_ok();
                return self.checkpointer().wait();
            });
            EXPECT_EQ(own_system.told(),
                      std::vector<std::string>{
                          "root \"solver\": epoch 5 is in local stores only, and not protected "
                          "from the loss of nodes; epoch 4 still is: rank " +
                          std::to_string(failing) + ": its record cannot be written"});
        }
    }
}

// The advance has succeeded.
TEST_F(Alone, PeopleAreNotToldToRepeatACall) {
    constexpr int calls = 8;
    cluster.run_steps([](Cluster::Rank &self) {
        for (int nth = 1; nth <= calls; ++nth) {
            FailingSystem::fail_call(self.number() == 1 ? nth : 0);
            EXPECT_FALSE(self.protect(static_cast<uint64_t>(nth)));
            FailingSystem::fail_call(0);
        }
        return Status::ok();
    });
    ASSERT_EQ(system.told().size(), size_t{calls});
    for (const std::string &line : system.told()) {
        EXPECT_EQ(line.find("repeat"), std::string::npos) << line;
    }
}

TEST_F(Alone, WhoCannotCommitTellsAllAndNothingIsForgotten) {
    const auto run = cluster.run_steps([](Cluster::Rank &self) {
        EXPECT_TRUE(self.protect(1));
        const Status refused = self.checkpointer().commit_root(
            self.number() == 1 ? fail(CD_ERROR_HAS_CHILDREN, "it has a child") : Status::ok());
        EXPECT_EQ(refused.code(), CD_ERROR_HAS_CHILDREN);
        EXPECT_STREQ(message(), "rank 1: it has a child");
        EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
        return self.protect(2);
    });
    EXPECT_EQ(run.outcome().text, "");
    EXPECT_EQ(cluster.run({}, true).start(), 2U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

TEST_F(Alone, WhoHasNoRoomForOneCallOfAnAdvanceLetsThatOneFailForAll) {
    for (const int rank : {0, 2}) {
        int failures = 0;
        fail_everywhere_in_protect<NoRoom>(rank, failures);
        EXPECT_GT(failures, 15);
    }
}

TEST_F(Alone, WhoHasNoRoomForOneCallOfARestartLetsItFailForAllAndNothingIsLost) {
    EXPECT_GT(fail_everywhere_in_open<NoRoom>(0, true), 5);
    EXPECT_GT(fail_everywhere_in_open<NoRoom>(1, false), 5);
}

TEST_F(Alone, WhoCannotWriteDownThatARootIsForgottenLetsAllKeepIt) {
    EXPECT_GT(fail_everywhere_in_commit<NoRoom>(0), 0);
    EXPECT_GT(fail_everywhere_in_commit<NoRoom>(2), 0);
}

} // namespace
} // namespace cd::checkpoint
