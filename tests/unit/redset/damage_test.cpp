// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What is erased, cut, changed or swapped, of each kind of file, of one to more members than the
// scheme covers: each has its verdict, and none is a wait or wrong data.
#include "../time_limit.h"
#include "damages.h"
#include "redset/offline_rebuild.h"
#include "scratch_nodes.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_for_each = 30;

// Of a member's files that of a kind.
using PathOf = std::function<fs::path(Target target, int member)>;

PathOf paths_in(const ScratchSet &scratch) {
    return [&scratch](Target target, int member) -> fs::path {
        switch (target) {
        case Target::data:
            return scratch.place().path(scratch.names(member).back());
        case Target::scheme:
            return scratch.place().scheme_file(scratch.set(), member);
        case Target::descriptor:
            return scratch.place().descriptor(scratch.set(), member);
        case Target::checksums:
            break;
        }
        return scratch.place().checksums(scratch.set(), member);
    };
}

PathOf paths_in(const ScratchNodes &nodes) {
    return [&nodes](Target target, int member) {
        const std::string node = "n" + std::to_string(member);
        switch (target) {
        case Target::data:
            return nodes.image(node, member);
        case Target::scheme:
            return nodes.scheme_file(node, member);
        case Target::descriptor:
            return nodes.descriptor(node, member);
        case Target::checksums:
            break;
        }
        return nodes.checksums(node, member);
    };
}

std::vector<std::vector<uint64_t>> sizes_for(const Shape &shape) {
    std::vector<std::vector<uint64_t>> sizes;
    for (int member = 0; member < shape.members; ++member) {
        sizes.push_back({100, 5000}); // alike, so that only content tells them apart
    }
    return sizes;
}

// A file is swapped with that of the next damaged member; the only one with that of another set.
void swap_files(const Shape &shape, const PathOf &path_of, Target target,
                const std::vector<int> &members) {
    if (members.size() > 1 && target != Target::checksums) {
        std::vector<fs::path> paths;
        for (const int member : members) {
            paths.push_back(path_of(target, member));
        }
        rotate_files(paths);
        return;
    }
    auto other_sizes = sizes_for(shape);
    other_sizes[0][0] = 101;
    Set other_set = single_set(shape);
    for (int &rank : other_set.ranks) { // other data
        rank += 20;
    }
    other_set.job_ranks = 100;
    ScratchSet other(other_set, other_sizes);
    ASSERT_TRUE(other.apply()) << message();
    for (const int member : members) {
        fs::copy_file(paths_in(other)(target, member), path_of(target, member),
                      fs::copy_options::overwrite_existing);
    }
}

void damage_files(const Shape &shape, const PathOf &path_of, Target target, Damage damage,
                  const std::vector<int> &members) {
    if (damage == Damage::swap) {
        swap_files(shape, path_of, target, members);
        return;
    }
    for (const int member : members) {
        damage_file(path_of(target, member), damage);
    }
}

Status rebuild_only_set(const fs::path &folder) {
    Search search;
    Status status = find_sets(std::vector<std::string>{folder}, names_a_time, search);
    if (!status) {
        return status;
    }
    EXPECT_EQ(search.sets.size(), 1U);
    Survey survey;
    return rebuild_found(search.sets.at(0), {.sync = false}, false, survey);
}

void check(const Shape &shape, Target target, Damage damage, const std::vector<int> &members) {
    const ScratchNodes nodes(single_set(shape), sizes_for(shape));
    nodes.put_each();
    const FolderState before = nodes.state();
    damage_files(shape, paths_in(nodes), target, damage, members);
    const FolderState left = nodes.state();
    unsigned lost = 0;
    for (const int member : members) {
        lost |= 1U << member;
    }
    const Status status = rebuild_only_set(nodes.folder());
    if (comes_back(shape, target, damage, lost)) {
        ASSERT_TRUE(status) << message();
        EXPECT_TRUE(contents(nodes.state()) == contents(before));
    } else {
        EXPECT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        EXPECT_TRUE(nodes.state() == left);
    }
}

class DamageTest : public testing::TestWithParam<Shape> {};

TEST_P(DamageTest, EachHasItsVerdictWhereEachNodeHasADirectory) {
    const Shape shape = GetParam();
    for (const Target target : targets) {
        for (const Damage damage : damages) {
            for (int count = 1; count <= shape.checks + 1; ++count) {
                for (const bool beside : {true, false}) {
                    const std::string what = name_of(damage) + " " + name_of(target) + " of " +
                                             std::to_string(count) +
                                             (beside ? " beside each other" : " apart");
                    SCOPED_TRACE(what);
                    const TimeLimit limit(seconds_for_each, what);
                    check(shape, target, damage, chosen_members(shape, count, beside));
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, DamageTest,
                         testing::Values(Shape{Scheme::xor_set, 4, 1},
                                         Shape{Scheme::reed_solomon, 6, 2},
                                         Shape{Scheme::partner, 4, 1},
                                         Shape{Scheme::partner, 6, 2}));

} // namespace
} // namespace cd::redset
