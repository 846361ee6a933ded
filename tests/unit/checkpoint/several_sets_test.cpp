// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// One set has lost more than it covers, and another has not: nobody touches what is left of the
// point in time.
#include "../redset/damages.h"
#include "../redset/scratch_set.h"
#include "protected.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <map>
#include <tuple>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;
using redset::Damage;

const std::vector<std::string> six_nodes{"n0", "n1", "n2", "n3", "n4", "n5"};

// Counts files of epoch 3 that are begun before they have names.
class WatchedSystem : public DyingSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const std::string path = name;
        drafts_ += (flags & O_CREAT) != 0 && path.find("/epoch-3.") != std::string::npos &&
                           path.find(".cd-draft") != std::string::npos
                       ? 1
                       : 0;
        return DyingSystem::open_at(directory, name, flags, mode);
    }
    int drafts_of_epoch_3() const { return drafts_; }

private:
    std::atomic<int> drafts_ = 0;
};

struct Loss {
    std::string what;
    std::function<void()> happens;
    std::string error; // has this in it
    // Whether names, sizes and headers tell, so that nothing is prepared in vain.
    bool is_told_by_headers;
};

// Sets of ranks 0, 1, 2 and 3, 4, 5.
class SeveralSets : public testing::Test {
protected:
    WatchedSystem system;
    Cluster cluster{six_nodes};

    void SetUp() override { cluster.set_size = 3; }

    fs::path file(int rank, const std::string &mark) const {
        for (const auto &each :
             fs::recursive_directory_iterator(cluster.directory(six_nodes[redset::index(rank)]))) {
            const std::string path = each.path();
            const std::string name = each.path().filename();
            if (path.find("/epoch-3.") != std::string::npos &&
                name.starts_with(std::to_string(rank) + ".") &&
                name.find(mark) != std::string::npos) {
                return each.path();
            }
        }
        ADD_FAILURE() << "rank " << rank << " has no " << mark;
        return {};
    }
    void lose(const std::vector<std::string> &nodes) const {
        for (const std::string &node : nodes) {
            cluster.lose(node);
        }
    }
    void change(const std::vector<int> &ranks) const {
        for (const int rank : ranks) {
            redset::damage_file(file(rank, ".image"), Damage::change);
        }
    }

    // The second set is beyond cover in all of them, and the first one within.
    std::vector<Loss> losses() const {
        return {{"nodes of both",
                 [&] {
                     lose({"n0", "n4", "n5"});
                 },
                 "set 2 of 2 (XOR, 3 members): files of ranks 4, 5 are lost", true},
                {"nodes of one",
                 [&] {
                     lose({"n4", "n5"});
                 },
                 "set 2 of 2", true},
                {"a node and contents",
                 [&] {
                     lose({"n0"});
                     change({4, 5});
                 },
                 "set 2 of 2 (XOR, 3 members, 1 checksum): files of ranks 4, 5", false},
                {"contents in both",
                 [&] {
                     change({1, 4, 5});
                 },
                 "files of ranks 4, 5", false},
                {"an erased file and contents",
                 [&] {
                     fs::remove(file(1, ".image"));
                     change({4, 5});
                 },
                 "files of ranks 4, 5", false},
                {"a node of each and contents",
                 [&] {
                     lose({"n0", "n4"});
                     change({5});
                 },
                 "files of ranks 4, 5", false},
                {"headers and a file",
                 [&] {
                     lose({"n0"});
                     for (const int rank : {4, 5}) {
                         redset::damage_file(file(rank, ".grp_"), Damage::change_header);
                     }
                     fs::remove(file(3, ".image"));
                 },
                 "files of ranks 4, 5 are lost, and no remaining file records", true}};
    }

    // Which files and directories there are of epoch 3, and whether one is still the same.
    using State = std::map<fs::path, std::tuple<ino_t, time_t, long, std::vector<std::byte>>>;
    State state() const {
        State state;
        for (const auto &each : fs::recursive_directory_iterator(cluster.directory(""))) {
            if (each.path().string().find("/epoch-3.") == std::string::npos) {
                continue;
            }
            struct stat found = {};
            EXPECT_EQ(::lstat(each.path().c_str(), &found), 0);
            state[each.path()] =
                each.is_directory()
                    ? State::mapped_type(found.st_ino, 0, 0, {})
                    : State::mapped_type(found.st_ino, found.st_ctim.tv_sec, found.st_ctim.tv_nsec,
                                         redset::bytes_of(each.path()));
        }
        return state;
    }

    void clear() const { lose(six_nodes); }
};

TEST_F(SeveralSets, WithOneBeyondCoverTheOlderPointInTimeIsTakenAndTheNewerStaysAsItIs) {
    cluster.config = cluster.write_config("CKPT=0 INTERVAL=1 TYPE=XOR SET_SIZE=3\n"
                                          "CKPT=1 INTERVAL=2 TYPE=RS CKSUM=3 SET_SIZE=6\n");
    for (const Loss &loss : losses()) {
        SCOPED_TRACE(loss.what);
        const TimeLimit limit(30);
        clear();
        cluster.run({1, 2, 3});
        loss.happens();
        const State left = state();
        const int drafts = system.drafts_of_epoch_3();
        const size_t told = system.told().size();
        EXPECT_EQ(cluster.run({}).start(), 2U);
        EXPECT_TRUE(state() == left);
        EXPECT_TRUE(!loss.is_told_by_headers || system.drafts_of_epoch_3() == drafts);
        ASSERT_EQ(system.told().size(), told + 1);
        const std::string line = system.told().back();
        EXPECT_NE(line.find(loss.error), std::string::npos) << line;
        EXPECT_TRUE(line.ends_with("; starting from epoch 2")) << line;
    }
}

// Each has lost as much as it covers, one of them as only contents tell.
TEST_F(SeveralSets, WithinCoverComeBack) {
    for (const Scheme scheme : {Scheme::xor_set, Scheme::partner}) {
        const TimeLimit limit(30);
        cluster.redundancy = {scheme, 1};
        clear();
        cluster.run({3});
        cluster.lose("n1");
        change({4});
        EXPECT_EQ(cluster.run({}).start(), 3U);
    }
}

// ---- One rank fails alone

struct NoRoomInASet {
    static void arm(int nth) { FailingSystem::fail_call(nth); }
    static bool happened() { return FailingSystem::happened(); }
};

TEST(AloneInOneOfSeveralSets, WhoFailsWhileTheyAreRebuiltTellsAll) {
    const FailingSystem system;
    for (const int failing : {1, 5}) { // who has lost all, and who has in the other set all
        const int failures = fail_everywhere<NoRoomInASet>(
            failing,
            [](Cluster &cluster) {
                cluster.nodes = six_nodes;
                cluster.set_size = 3;
                cluster.run({1});
                cluster.lose("n1");
                cluster.lose("n4");
            },
            [&](Cluster &cluster, int nth, std::atomic<bool> &happened) {
                Cluster::Opening opening;
                opening.before = [&](int rank) { NoRoomInASet::arm(rank == failing ? nth : 0); };
                opening.after = [&](int rank) {
                    if (rank == failing) {
                        happened = NoRoomInASet::happened();
                    }
                    NoRoomInASet::arm(0);
                };
                return cluster.run_steps(
                    [](Cluster::Rank &self) { return self.checkpointer().agree_on(Status::ok()); },
                    opening);
            },
            [](Cluster &cluster, bool) { EXPECT_EQ(cluster.run({}).start(), 1U); });
        EXPECT_GT(failures, 0);
    }
}

} // namespace
} // namespace cd::checkpoint
