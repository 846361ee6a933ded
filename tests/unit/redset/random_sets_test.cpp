// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Sets of any size and scheme, with any files, lose any members.
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
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

Coding random_coding(std::mt19937 &random) {
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
    Set set = single_set(random_coding(random));
    std::shuffle(set.ranks.begin(), set.ranks.end(), random);
    set.groups = 3;
    set.group = static_cast<int>(random() % 3);
    set.job_ranks += 5;
    return set;
}

unsigned random_losses(const Coding &coding, std::mt19937 &random) {
    unsigned lost = 0;
    for (int left = coding.checks + static_cast<int>(random() % 3) - 1; left > 0; --left) {
        lost |= 1U << random() % static_cast<unsigned>(coding.members);
    }
    return lost;
}

// All that a member has, or one of its files.
void lose(const ScratchSet &scratch, int member, std::mt19937 &random) {
    const Set &set = scratch.set();
    const Place &place = scratch.place();
    if (random() % 3 != 0) {
        scratch.erase(member);
        return;
    }
    std::vector<std::string> paths = {place.scheme_file(set, member), place.descriptor(set, member),
                                      place.checksums(set, member)};
    for (const std::string &name : scratch.names(member)) {
        paths.push_back(place.path(name));
    }
    std::filesystem::remove(paths[random() % paths.size()]);
}

// What there has been, so that it is known that all there may be has been there.
struct Seen {
    std::map<int, int> members;
    std::map<int, int> checks; // of reed_solomon
    std::map<Scheme, int> schemes;
    int without_files = 0; // members
    int empty_files = 0;
    int larger_than_buffers = 0; // sets
    int covered = 0;
    int exceeded = 0;

    void note(const Set &set, const Sizes &sizes) {
        constexpr uint64_t buffer = 128 << 10;
        const Coding &coding = set.coding;
        ++members[coding.members];
        ++schemes[coding.scheme];
        checks[coding.checks] += coding.scheme == Scheme::reed_solomon ? 1 : 0;
        uint64_t largest = 0;
        for (const auto &files : sizes) {
            without_files += files.empty() ? 1 : 0;
            empty_files += static_cast<int>(std::ranges::count(files, 0U));
            largest = std::max(largest, std::accumulate(files.begin(), files.end(), uint64_t{0}));
        }
        const bool divided = coding.scheme != Scheme::partner;
        const auto chunks = static_cast<uint64_t>(divided ? coding.members - coding.checks : 1);
        larger_than_buffers += largest / chunks > buffer ? 1 : 0;
    }
};

// Our checksums are the same for all members: where one has them left all get them again, and where
// none has, nobody knows them any more, and they are not made of what is not checked.
FolderState what_comes_back(FolderState before, const FolderState &left) {
    const auto is_checksums = [](const auto &file) { return file.first.ends_with(".cdsums"); };
    if (std::ranges::none_of(left, is_checksums)) {
        std::erase_if(before, is_checksums);
    }
    return before;
}

void lose_and_rebuild(unsigned seed, Seen &seen) {
    std::mt19937 random(seed);
    const Set set = random_set(random);
    const Sizes sizes = random_sizes(set.coding.members, random);
    seen.note(set, sizes);
    ScratchSet scratch(set, sizes);
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState before = scratch.state();
    const unsigned lost = random_losses(set.coding, random);
    for (int member = 0; member < set.coding.members; ++member) {
        if ((lost >> member & 1) != 0) {
            lose(scratch, member, random);
        }
    }
    const FolderState left = scratch.state();
    const Status status = scratch.rebuild();
    if (covered(set.coding, lost)) {
        ASSERT_TRUE(status) << message();
    }
    // Members that had nothing may be more than the scheme covers, and do no harm.
    if (status) {
        ASSERT_TRUE(contents(scratch.state()) == contents(what_comes_back(before, left)));
    } else {
        ASSERT_EQ(status.code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        ASSERT_TRUE(scratch.state() == left);
    }
    ++(status ? seen.covered : seen.exceeded);
}

TEST(RandomSets, WhatIsCoveredComesBackAndElseNothingChanges) {
    const unsigned seeds = std::getenv("CD_TEST_LONG") != nullptr ? 4000 : 120;
    Seen seen;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(lose_and_rebuild(seed, seen));
    }
    for (int members = 2; members <= 12; ++members) {
        EXPECT_GT(seen.members[members], 1) << members;
    }
    for (int checks = 1; checks <= 7; ++checks) {
        EXPECT_GT(seen.checks[checks], 1) << checks;
    }
    EXPECT_EQ(seen.schemes.size(), 3U);
    EXPECT_GT(seen.without_files, 100);
    EXPECT_GT(seen.empty_files, 100);
    EXPECT_GT(seen.larger_than_buffers, 10);
    EXPECT_GT(seen.covered, 50);
    EXPECT_GT(seen.exceeded, 5);
}

} // namespace
} // namespace cd::redset
