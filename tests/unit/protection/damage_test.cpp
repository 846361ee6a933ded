// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A program starts again after files of its point in time were erased, cut, changed or swapped on
// one to more nodes than the scheme covers: all ranks start from it, or all say what is lost, and
// none waits.
#include "../redset/damages.h"
#include "../redset/scratch_set.h"
#include "../time_limit.h"
#include "cluster.h"

#include <gtest/gtest.h>

#include <map>

namespace cd::protection {
namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_for_each = 30;
using redset::Damage;
using redset::Shape;
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
    explicit Sample(const Shape &shape) : cluster_(names_of_nodes(shape.members)) {
        cluster_.redundancy = {shape.scheme, shape.checks};
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

    Cluster::Run start_again() const { return cluster_.run({}); }

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

void check(const Sample &sample, const Shape &shape, Target target, Damage damage,
           const std::vector<int> &ranks) {
    unsigned damaged = 0;
    for (const int rank : ranks) {
        damaged |= 1U << rank;
    }
    sample.damage(mark_of(target), damage, ranks);
    const Sample::State left = sample.state();
    ASSERT_FALSE(sample.is_right());

    const auto run = sample.start_again();
    if (redset::comes_back(shape, target, damage, damaged)) {
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

class DamagedPoint : public testing::TestWithParam<Shape> {
protected:
    DyingSystem system; // nothing waits for the disk
};

TEST_P(DamagedPoint, HasItsVerdictWhateverIsDamaged) {
    const Shape shape = GetParam();
    const Sample sample(shape);
    for (const Target target : redset::targets) {
        for (const Damage damage : redset::damages) {
            for (int count = 1; count <= shape.checks + 1; ++count) {
                for (const bool beside : {true, false}) {
                    const std::string what = name_of(damage) + " " + name_of(target) + " of " +
                                             std::to_string(count) +
                                             (beside ? " beside each other" : " apart");
                    SCOPED_TRACE(what);
                    const TimeLimit limit(seconds_for_each, what);
                    check(sample, shape, target, damage,
                          redset::chosen_members(shape, count, beside));
                }
            }
        }
    }
}

// A rank that has none gets one; one of another time, or of another rank, is none.
TEST_P(DamagedPoint, GetsRecordsFromWhoeverHasOne) {
    const Shape shape = GetParam();
    const Sample sample(shape);
    std::vector<int> ranks;
    for (int rank = 0; rank + 1 < shape.members; ++rank) {
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

INSTANTIATE_TEST_SUITE_P(Schemes, DamagedPoint,
                         testing::Values(Shape{Scheme::xor_set, 4, 1},
                                         Shape{Scheme::reed_solomon, 6, 2},
                                         Shape{Scheme::partner, 4, 1}));

} // namespace
} // namespace cd::protection
