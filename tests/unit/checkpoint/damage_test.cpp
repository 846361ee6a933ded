// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A program starts again after files of its point in time were erased, cut, changed or swapped on
// one to more nodes than the scheme covers: all ranks start from it, or all say what is lost, and
// none waits.
#include "../redset/damages.h"
#include "../redset/scratch_set.h"
#include "../time_limit.h"
#include "cluster.h"
#include "redset/kvtree_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_for_each = 30;
using redset::Coding;
using redset::Damage;
using redset::Target;

constexpr uint64_t epoch = 7;
constexpr char agreed[] = ".agreed";

std::vector<std::string> names_of_nodes(int count) {
    std::vector<std::string> names;
    for (int node = 0; node < count; ++node) {
        names.push_back("n" + std::to_string(node));
    }
    return names;
}

const char *mark_of(Target target) {
    constexpr const char *marks[] = {".image", ".grp_", ".redset", ".cdsums"};
    return marks[static_cast<size_t>(target)];
}

// A program with a point in time, whose files are damaged and put right again.
class Sample {
public:
    explicit Sample(const Coding &coding) : cluster_(names_of_nodes(coding.members)) {
        cluster_.redundancy = {coding.scheme, coding.checks};
        EXPECT_EQ(cluster_.run({epoch - 1}).start(), std::nullopt);
        for (const auto &[path, bytes] : state()) {
            before_[path.filename()] = bytes;
        }
        EXPECT_EQ(cluster_.run({epoch}).start(), epoch - 1);
        right_ = state();
    }

    using State = std::map<fs::path, std::vector<std::byte>>; // of all nodes
    State state() const {
        State state;
        for (const std::string &node : cluster_.nodes) {
            for (const fs::path &path : redset::files_below(cluster_.directory(node))) {
                state[path] = redset::bytes_of(path);
            }
        }
        return state;
    }
    bool is_right() const { return state() == right_; }
    void put_right() const {
        for (const auto &[path, bytes] : right_) {
            redset::write_file(path, bytes);
        }
    }

    // Of several ranks files are swapped; one gets its file of the time before or, if that is the
    // same, another's.
    void damage(const std::string &mark, Damage damage, const std::vector<int> &ranks) const {
        std::vector<fs::path> paths;
        for (const int rank : ranks) {
            paths.push_back(path_of(mark, rank));
        }
        const bool all_alike = mark == mark_of(Target::checksums);
        if (damage == Damage::swap && paths.size() > 1 && !all_alike) {
            redset::rotate_files(paths);
            return;
        }
        for (const fs::path &path : paths) {
            if (damage == Damage::swap) {
                const auto &other = before_.at(path.filename());
                redset::write_file(path, other != right_.at(path)
                                             ? other
                                             : redset::bytes_of(path_of(mark, ranks[0] + 1)));
            } else {
                redset::damage_file(path, damage);
            }
        }
    }

    // As a later version writes records that has another format of them.
    void make_newer(int rank) const {
        const fs::path path = path_of(agreed, rank);
        redset::KvTree tree;
        uint64_t size = 0;
        ASSERT_TRUE(redset::decode_image(redset::bytes_of(path), "record", tree, size));
        redset::KvTree newer;
        newer.add_number("CD_POINT", 2);
        for (const auto &[key, below] : tree.elements()) {
            if (key != "CD_POINT") {
                newer.add(key) = below;
            }
        }
        std::vector<std::byte> image;
        ASSERT_TRUE(redset::encode_image(newer, "record", image));
        redset::write_file(path, image);
    }

    Cluster::Run start_again() const { return cluster_.run({}); }
    Cluster::Run start_afresh() {
        cluster_.restart = "no";
        auto run = cluster_.run({});
        cluster_.restart = "";
        return run;
    }

private:
    fs::path path_of(const std::string &mark, int rank) const {
        const std::string &node = cluster_.nodes[static_cast<size_t>(rank)];
        for (const fs::path &path : redset::files_below(cluster_.directory(node))) {
            const std::string name = path.filename();
            if (name.find(mark) != std::string::npos &&
                (mark != mark_of(Target::descriptor) ||
                 name.find(mark_of(Target::scheme)) == std::string::npos)) {
                return path;
            }
        }
        ADD_FAILURE() << "rank " << rank << " has no file with " << mark;
        return {};
    }

    Cluster cluster_;
    std::map<std::string, std::vector<std::byte>> before_; // by name
    State right_;
};

void check(const Sample &sample, const Coding &coding, Target target, Damage damage,
           const std::vector<int> &ranks) {
    unsigned damaged = 0;
    for (const int rank : ranks) {
        damaged |= 1U << rank;
    }
    sample.damage(mark_of(target), damage, ranks);
    const Sample::State left = sample.state();
    ASSERT_FALSE(sample.is_right());

    const auto run = sample.start_again();
    if (redset::comes_back(coding, target, damage, damaged)) {
        EXPECT_EQ(run.start(), epoch);
        EXPECT_TRUE(sample.is_right());
        return;
    }
    const auto outcome = run.outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_NE(outcome.text.find("epoch 7: set 1 of 1"), std::string::npos) << outcome.text;
    EXPECT_TRUE(sample.state() == left);
    sample.put_right();
}

class DamagedPoint : public testing::TestWithParam<Coding> {
protected:
    DyingSystem system; // nothing waits for the disk
};

TEST_P(DamagedPoint, HasItsVerdictWhateverIsDamaged) {
    const Coding coding = GetParam();
    const Sample sample(coding);
    for (const Target target : redset::targets) {
        for (const Damage damage : redset::damages) {
            for (int count = 1; count <= coding.checks + 1; ++count) {
                for (const bool beside : {true, false}) {
                    const std::string what = name_of(damage) + " " + name_of(target) + " of " +
                                             std::to_string(count) +
                                             (beside ? " beside each other" : " apart");
                    SCOPED_TRACE(what);
                    const TimeLimit limit(seconds_for_each, what);
                    check(sample, coding, target, damage,
                          redset::chosen_members(coding, count, beside));
                }
            }
        }
    }
}

// A rank that has none gets one; one of another time, or of another rank, is none.
TEST_P(DamagedPoint, GetsRecordsFromWhoeverHasOne) {
    const Coding coding = GetParam();
    const Sample sample(coding);
    std::vector<int> ranks;
    for (int rank = 0; rank + 1 < coding.members; ++rank) {
        ranks.push_back(rank);
        for (const Damage damage : redset::damages) {
            const std::string what =
                name_of(damage) + " records of " + std::to_string(ranks.size());
            SCOPED_TRACE(what);
            const TimeLimit limit(seconds_for_each, what);
            sample.damage(agreed, damage, ranks);
            ASSERT_FALSE(sample.is_right());
            EXPECT_EQ(sample.start_again().start(), epoch);
            EXPECT_TRUE(sample.is_right());
        }
    }
}

// All ranks say so alike, and nothing is removed.
void check_refused(Sample &sample) {
    const Sample::State left = sample.state();
    const auto outcome = sample.start_again().outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
    for (const char *part : {"epoch 7: no record of ranks 0, 1", "CD_RESTART=no"}) {
        EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
    }
    EXPECT_EQ(sample.start_afresh().start(), std::nullopt);
    EXPECT_TRUE(sample.state() == left);
}

std::vector<int> all_ranks(const Coding &coding) {
    std::vector<int> ranks(static_cast<size_t>(coding.members));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

TEST_P(DamagedPoint, IsNotTakenForNoneWhereNoRecordCanBeRead) {
    const Coding coding = GetParam();
    const TimeLimit limit(seconds_for_each);
    Sample sample(coding);
    for (const Damage damage : {Damage::cut, Damage::change, Damage::change_header, Damage::swap}) {
        SCOPED_TRACE(name_of(damage));
        sample.damage(agreed, damage, all_ranks(coding));
        check_refused(sample);
        sample.put_right();
    }
    sample.damage(agreed, Damage::cut, all_ranks(coding));
    sample.damage(agreed, Damage::erase, {0});
    check_refused(sample);
    sample.put_right();
    for (const int rank : all_ranks(coding)) {
        sample.make_newer(rank);
    }
    check_refused(sample);
    sample.put_right();
    EXPECT_EQ(sample.start_again().start(), epoch);
}

// The system opens none of the records on some nodes.
class ClosedRecords : public DyingSystem {
public:
    explicit ClosedRecords(std::string on) : on_(std::move(on)) {}
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const std::string path = name;
        if (!path.ends_with(agreed) || path.find(on_) == std::string::npos) {
            return DyingSystem::open_at(directory, name, flags, mode);
        }
        errno = EIO;
        return -1;
    }

private:
    const std::string on_;
};

TEST(ClosedPoint, IsNotTakenForNone) {
    const TimeLimit limit(seconds_for_each);
    Sample sample({Scheme::xor_set, 4, 1});
    {
        const ClosedRecords system("/");
        check_refused(sample);
    }
    {
        const ClosedRecords system("/n0/");
        EXPECT_EQ(sample.start_again().start(), epoch);
    }
    EXPECT_TRUE(sample.is_right());
}

INSTANTIATE_TEST_SUITE_P(Schemes, DamagedPoint,
                         testing::Values(Coding{Scheme::xor_set, 4, 1},
                                         Coding{Scheme::reed_solomon, 6, 2},
                                         Coding{Scheme::partner, 4, 1}));

} // namespace
} // namespace cd::checkpoint
