// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Sets of any size and scheme, with any files, lose any members.
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace cd::redset {
namespace {

using Sizes = std::vector<std::vector<uint64_t>>;

uint64_t random_size(std::mt19937 &random) {
    switch (random() % 8) {
    case 0:
        return 0;
    case 1:
        return 100'000 + random() % 300'000; // several pieces at a time
    default:
        return random() % 5000;
    }
}

Sizes random_sizes(int members, std::mt19937 &random) {
    Sizes sizes(static_cast<size_t>(members));
    const bool all_empty = random() % 20 == 0;
    for (auto &files : sizes) {
        files.resize(random() % 4);
        for (uint64_t &size : files) {
            size = all_empty ? 0 : random_size(random);
        }
    }
    return sizes;
}

Shape random_shape(std::mt19937 &random) {
    const int members = 2 + static_cast<int>(random() % 11);
    const int checks = 1 + static_cast<int>(random() % std::min(7U, unsigned(members) - 1));
    switch (random() % 4) {
    case 0:
        return {Scheme::xor_set, members, 1};
    case 1:
        return {Scheme::partner, members, checks};
    default:
        return {Scheme::reed_solomon, members, checks};
    }
}

Set random_set(std::mt19937 &random) {
    Set set = single_set(random_shape(random));
    std::shuffle(set.ranks.begin(), set.ranks.end(), random);
    set.groups = 3;
    set.group = static_cast<int>(random() % 3);
    set.job_ranks += 5;
    return set;
}

unsigned random_losses(const Shape &shape, std::mt19937 &random) {
    unsigned lost = 0;
    for (int left = shape.checks + static_cast<int>(random() % 3) - 1; left > 0; --left) {
        lost |= 1U << random() % static_cast<unsigned>(shape.members);
    }
    return lost;
}

void lose_and_rebuild(unsigned seed) {
    std::mt19937 random(seed);
    const Set set = random_set(random);
    ScratchSet scratch(set, random_sizes(set.shape.members, random));
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState before = scratch.state();
    const unsigned lost = random_losses(set.shape, random);
    for (int member = 0; member < set.shape.members; ++member) {
        if ((lost >> member & 1) != 0) {
            scratch.erase(member);
        }
    }
    const FolderState left = scratch.state();
    const Status status = scratch.rebuild();
    if (covered(set.shape, lost)) {
        ASSERT_TRUE(status) << message();
    }
    // Members that had nothing may be more than the scheme covers, and do no harm.
    if (status) {
        ASSERT_TRUE(contents(scratch.state()) == contents(before));
    } else {
        ASSERT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        ASSERT_TRUE(scratch.state() == left);
    }
}

TEST(RandomSets, WhatIsCoveredComesBackAndElseNothingChanges) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(lose_and_rebuild(seed));
    }
}

} // namespace
} // namespace cd::redset
