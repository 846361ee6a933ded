// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/inventory.h"

#include <gtest/gtest.h>

namespace cd::checkpoint {
namespace {

const CheckpointId older{4, 10, 0, 77};
const CheckpointId newer{5, 11, 0, 77};

redset::Set pair(int group, std::vector<int> ranks) {
    return {{Scheme::xor_set, 2, 1}, group, 2, 4, std::move(ranks)};
}

// What a rank has after a point in time was stored.
RankFiles files_of(const CheckpointId &point, int rank, const redset::Set &set, bool committed) {
    RankFiles files;
    files.sizes = {{image_name(rank), 100}, {std::to_string(rank) + ".redset", 10}};
    files.sizes[committed ? committed_record_name(rank) : stored_record_name(rank)] = 50;
    files.record = Record{point, rank, 4, set};
    files.stored = true;
    files.committed = committed;
    return files;
}

// Four ranks with a directory each; sets {0, 1} and {2, 3}.
Inventory four_ranks(bool committed) {
    Inventory findings{{0, 1, 2, 3}, {0, 1, 2, 3}, std::vector<Content>(4)};
    for (int rank = 0; rank < 4; ++rank) {
        const redset::Set set = rank < 2 ? pair(0, {0, 1}) : pair(1, {2, 3});
        auto &points = findings.contents[static_cast<size_t>(rank)].checkpoints;
        points[older][rank] = files_of(older, rank, set, true);
        points[newer][rank] = files_of(newer, rank, set, committed);
    }
    return findings;
}

TEST(Inventory, APointCountsIfAnyRankWroteDownThatAllHaveIt) {
    Inventory findings = four_ranks(false);
    EXPECT_EQ(findings.committed(), std::vector<CheckpointId>{older});
    findings.contents[2].checkpoints[newer][2].committed = true;
    EXPECT_EQ(findings.committed(), (std::vector<CheckpointId>{older, newer}));
    EXPECT_EQ(findings.last_number(), 5U);
}

TEST(Inventory, OneCommitMarkerIsEnough) {
    Inventory findings = four_ranks(true);
    findings.contents[2].commit_markers = {{4, {77}}};
    EXPECT_TRUE(findings.is_of_committed_root(older));
    EXPECT_FALSE(findings.is_of_committed_root(newer));
    findings.contents[1].commit_markers = {{3, {77}}, {9, {1, 77}}};
    EXPECT_TRUE(findings.is_of_committed_root(newer));
    EXPECT_EQ(findings.last_number(), 9U);
}

// Another job numbers its points in time from 1, too.
TEST(Inventory, ACommitMarkerIsForThoseOfItsSessionsOnly) {
    Inventory findings = four_ranks(true);
    findings.contents[2].commit_markers = {{9, {78}}};
    EXPECT_FALSE(findings.is_of_committed_root(older));
    EXPECT_FALSE(findings.is_of_committed_root(newer));
}

TEST(Inventory, AnAttemptThatSomeRankHasNotStoredCanNeverCount) {
    Inventory findings = four_ranks(false);
    findings.contents[3] = {}; // that node may have learnt that all have stored it
    EXPECT_FALSE(findings.can_never_be_committed(newer));
    findings.contents[1].checkpoints[newer][1].stored = false;
    EXPECT_TRUE(findings.can_never_be_committed(newer));
    findings.contents[0].checkpoints[newer][0].committed = true;
    EXPECT_FALSE(findings.can_never_be_committed(newer));
}

TEST(Inventory, AnAttemptThatAllHaveStoredAndNoneHasAgreedOnCanNeverCount) {
    Inventory findings = four_ranks(false);
    EXPECT_TRUE(findings.can_never_be_committed(newer));
    EXPECT_FALSE(findings.can_never_be_committed(older));
}

// A job of fewer ranks finds what others have stored, of which it does not see all.
TEST(Inventory, AnAttemptOfMoreRanksThanThereAreMayCountOnTheNodesOfOthers) {
    Inventory findings = four_ranks(false);
    findings.ranks = {0, 1};
    findings.contents.resize(2);
    EXPECT_FALSE(findings.can_never_be_committed(newer));
}

TEST(Inventory, AnAttemptOfWhichThereAreOnlyDirectoriesCanNeverCount) {
    Inventory findings = four_ranks(true);
    const CheckpointId empty{6, 12, 0, 77};
    findings.contents[1].checkpoints[empty];
    EXPECT_TRUE(findings.can_never_be_committed(empty));
}

TEST(Inventory, ACopyThatHasNotCountedCanNeverCountWhoeverHasNoneOfIt) {
    Inventory findings = four_ranks(false);
    const CheckpointId copy{6, 12, flush_level, 77};
    findings.contents[1].checkpoints[copy][1].stored = true;
    EXPECT_TRUE(findings.can_never_be_committed(copy));
    findings.contents[2].checkpoints[copy][1].committed = true;
    EXPECT_FALSE(findings.can_never_be_committed(copy));
}

TEST(Inventory, TheFirstRankOfADirectorySpeaksForIt) {
    EXPECT_EQ(find_reporters({"a:1", "b:1", "a:1", "b:2"}), (std::vector<int>{0, 1, 0, 3}));
}

// Three nodes of two ranks each, of which one did not see the first one's file yet.
TEST(Inventory, OfADirectoryOfSeveralNodesTheFirstOneOfAllTells) {
    const std::vector<int> reporters = {0, 0, 2, 2, 4, 4};
    const auto tell = [&](const std::vector<int> &first) {
        return find_common_reporters(reporters, first);
    };
    EXPECT_EQ(tell({0, -1, 2, -1, 4, -1}), reporters);
    EXPECT_EQ(tell({0, -1, 0, -1, 0, -1}), (std::vector<int>{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(tell({0, -1, 0, -1, 2, -1}), (std::vector<int>{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(tell({0, -1, 9, -1, 2, -1}), (std::vector<int>{0, 0, 2, 2, 2, 2}));
}

TEST(Inventory, OneRecordOfASetTellsOfIt) {
    Inventory findings = four_ranks(true);
    findings.contents[0] = {};
    findings.contents[3] = {};
    Division division;
    ASSERT_TRUE(find_sets(findings, newer, division).is_ok()) << message();
    EXPECT_EQ(division.set_of(0), pair(0, {0, 1}));
    EXPECT_EQ(division.set_of(3), pair(1, {2, 3}));
}

TEST(Inventory, ASetWithoutARecordThatCanBeReadIsTooMuchAndItsRanksAreNamed) {
    Inventory findings = four_ranks(true);
    findings.contents[2] = {};
    findings.contents[3].checkpoints[newer][3].record.reset();
    EXPECT_EQ(findings.committed(), (std::vector<CheckpointId>{older, newer}));
    Division division;
    EXPECT_EQ(find_sets(findings, newer, division).code(), CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_STREQ(message(), "epoch 11: no record of ranks 2, 3 can be read: all files of their "
                            "sets are lost, damaged or of a newer version; nothing was changed");
}

TEST(Inventory, AJobOfOtherRanksIsToldSo) {
    Inventory findings = four_ranks(true);
    findings.ranks.pop_back();
    findings.contents.pop_back();
    Division division;
    EXPECT_EQ(find_sets(findings, newer, division).code(), CD_ERROR_RESTART_MISMATCH);
    EXPECT_STREQ(
        message(),
        "epoch 11 was stored by 4 ranks, among them 0, 1; this job has a root of that name "
        "in ranks 0, 1, 2; start it with the same ranks, or with CD_RESTART=no");
    findings = four_ranks(true);
    findings.ranks = {0, 1, 2, 5};
    for (const size_t lost : {0, 1}) {
        findings.contents[lost].checkpoints.clear();
    }
    EXPECT_EQ(find_sets(findings, newer, division).code(), CD_ERROR_RESTART_MISMATCH);
    EXPECT_STREQ(
        message(),
        "epoch 11 was stored by 4 ranks, among them 2, 3; this job has a root of that name "
        "in ranks 0, 1, 2, 5; start it with the same ranks, or with CD_RESTART=no");
}

TEST(Inventory, FilesThatLieElsewhereAreTransferredButForRecords) {
    Inventory findings = four_ranks(true);
    EXPECT_TRUE(find_transfers(findings, newer).empty());
    std::swap(findings.contents[0], findings.contents[1]);
    findings.contents[3].checkpoints[newer][0] =
        findings.contents[1].checkpoints[newer][0]; // twice
    EXPECT_EQ(find_transfers(findings, newer), (std::vector<Transfer>{
                                                   {1, 0, "0.image", 100},
                                                   {1, 0, "0.redset", 10},
                                                   {0, 1, "1.image", 100},
                                                   {0, 1, "1.redset", 10},
                                               }));
}

TEST(Inventory, ADirectoryThatRanksShareServesBoth) {
    Inventory findings = four_ranks(true);
    findings.reporters = {0, 0, 2, 3};
    auto &points = findings.contents[0].checkpoints;
    points[newer].merge(findings.contents[1].checkpoints[newer]);
    findings.contents[1] = {};
    EXPECT_TRUE(find_transfers(findings, newer).empty());
}

} // namespace
} // namespace cd::checkpoint
