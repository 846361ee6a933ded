// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What is erased, cut, changed or swapped, of each kind of file, of one to more members than the
// scheme covers: each has its verdict, and none is a wait or wrong data.
#include "../time_limit.h"
#include "damages.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_for_each = 30;

fs::path path_of(const ScratchSet &scratch, Target target, int member) {
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
}

// A file is swapped with that of the next damaged member; the only one with that of another set.
void swap_files(const ScratchSet &scratch, const ScratchSet &other, Target target,
                const std::vector<int> &members) {
    if (members.size() == 1 || target == Target::checksums) {
        for (const int member : members) {
            fs::copy_file(path_of(other, target, member), path_of(scratch, target, member),
                          fs::copy_options::overwrite_existing);
        }
        return;
    }
    std::vector<fs::path> paths;
    for (const int member : members) {
        paths.push_back(path_of(scratch, target, member));
    }
    rotate_files(paths);
}

std::vector<std::vector<uint64_t>> sizes_for(const Shape &shape) {
    std::vector<std::vector<uint64_t>> sizes;
    for (int member = 0; member < shape.members; ++member) {
        sizes.push_back({100, 5000}); // alike, so that only content tells them apart
    }
    return sizes;
}

void check(const Shape &shape, Target target, Damage damage, const std::vector<int> &members) {
    ScratchSet scratch(single_set(shape), sizes_for(shape));
    auto other_sizes = sizes_for(shape);
    other_sizes[0][0] = 101;
    Set other_set = single_set(shape);
    for (int &rank : other_set.ranks) { // other data
        rank += 20;
    }
    other_set.job_ranks = 100;
    ScratchSet other(other_set, other_sizes);
    ASSERT_TRUE(scratch.apply()) << message();
    if (damage == Damage::swap) {
        ASSERT_TRUE(other.apply()) << message();
    }
    const FolderState before = scratch.state();

    unsigned lost = 0;
    for (const int member : members) {
        lost |= 1U << member;
        if (damage != Damage::swap) {
            damage_file(path_of(scratch, target, member), damage);
        }
    }
    if (damage == Damage::swap) {
        swap_files(scratch, other, target, members);
    }
    const FolderState left = scratch.state();

    const Status status = scratch.rebuild();
    if (comes_back(shape, target, damage, lost)) {
        ASSERT_TRUE(status) << message();
        EXPECT_TRUE(contents(scratch.state()) == contents(before));
    } else {
        EXPECT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        EXPECT_TRUE(scratch.state() == left);
    }
}

class DamageTest : public testing::TestWithParam<Shape> {};

TEST_P(DamageTest, EachHasItsVerdict) {
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
