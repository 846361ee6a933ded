// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpoint.h"

#include <gtest/gtest.h>

namespace cd::checkpoint {
namespace {

const Record record{
    {7, 12, 2, 0x1234567890abcdef}, 3, 4, {{Scheme::reed_solomon, 4, 2}, 0, 1, 4, {0, 1, 2, 3}}};

TEST(CheckpointId, ItsDirectoryTellsIt) {
    EXPECT_EQ(directory_name(record.id), "epoch-12.7.2.1234567890abcdef");
    EXPECT_EQ(id_of_directory("epoch-12.7.2.1234567890abcdef"), record.id);
    for (const char *name :
         {"epoch-12.7", "epoch-12.7.2.1234567890abcdeg", "epoch-012.7.2.0000000000000000",
          "epoch-12.18446744073709551615.2.0000000000000000", // which none follows
          "epoch-.7.2.0000000000000000", "12.7.1", "epoch-12.7.2.1234567890abcdef.old"}) {
        EXPECT_EQ(id_of_directory(name), std::nullopt) << name;
    }
}

TEST(CheckpointId, LaterAttemptsAreGreaterWhateverTheirEpochs) {
    EXPECT_LT((CheckpointId{1, 9, 5, 5}), (CheckpointId{2, 3, 1, 1}));
}

TEST(CheckpointId, FilesTellTheirRank) {
    EXPECT_EQ(rank_of_file(image_name(12)), 12);
    EXPECT_EQ(rank_of_file("3.xor.grp_1_of_1.mem_4_of_4.redset"), 3);
    for (const char *name :
         {".cd-draft.1.0", "12", "x.image", "-1.image", "99999999999.image", "1./../image"}) {
        EXPECT_EQ(rank_of_file(name), std::nullopt) << name;
    }
}

TEST(CheckpointId, ACommitMarkerTellsItsNumber) {
    EXPECT_EQ(number_of_commit_marker(commit_marker_name(17)), 17U);
    EXPECT_EQ(number_of_commit_marker("forgotten-17x"), std::nullopt);
    EXPECT_EQ(number_of_commit_marker("forgotten-18446744073709551615"), std::nullopt);
}

TEST(CheckpointId, ACommitMarkerIsReadAsItWasWrittenOrRefused) {
    const CommitMarker marker{17, {1, ~uint64_t{0}}};
    const redset::KvTree tree = commit_marker_tree(marker);
    CommitMarker read;
    ASSERT_TRUE(read_commit_marker(tree, "here", read).is_ok()) << message();
    EXPECT_EQ(read, marker);
    EXPECT_TRUE(read.is_for({17, 3, 0, 1}));
    EXPECT_FALSE(read.is_for({18, 3, 0, 1}));
    EXPECT_FALSE(read.is_for({17, 3, 0, 2}));
    for (const auto &left_out : tree.elements()) {
        redset::KvTree part;
        part.add(left_out.key) = left_out.below;
        EXPECT_EQ(read_commit_marker(part, "here", read).code(), CD_ERROR_STORE_DAMAGED);
    }
}

TEST(CheckpointId, ARecordIsReadAsItWasWritten) {
    Record read;
    ASSERT_TRUE(read_record(record_tree(record), "here", read).is_ok()) << message();
    EXPECT_EQ(read, record);
}

TEST(CheckpointId, ARecordWithSomethingMissingOrImpossibleIsRefused) {
    const redset::KvTree whole = record_tree(record);
    for (const auto &left_out : whole.elements()) {
        redset::KvTree tree;
        for (const auto &[key, below] : whole.elements()) {
            if (key != left_out.key) {
                tree.add(key) = below;
            }
        }
        Record read;
        EXPECT_EQ(read_record(tree, "here", read).code(), CD_ERROR_STORE_DAMAGED) << left_out.key;
    }
    Record impossible = record;
    impossible.set.coding.checks = 4;
    Record read;
    EXPECT_EQ(read_record(record_tree(impossible), "here", read).code(), CD_ERROR_STORE_DAMAGED);
}

} // namespace
} // namespace cd::checkpoint
