// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cd::checkpoint {

// Identifies a checkpoint. Programs that went back may take an epoch again, so that checkpoints are
// numbered in the order of time. Jobs that do not know of each other have different sessions.
struct CheckpointId {
    uint64_t number = 0;
    uint64_t epoch = 0;
    int level = 0; // its index; each level keeps a checkpoint of its own
    uint64_t session = 0;
    auto operator<=>(const CheckpointId &) const = default;
};

// The level of copies in the directory of flush=; others have smaller numbers.
constexpr int flush_level = 10000;

// For CheckpointDir::remove_before().
inline bool keeps_none(const CheckpointId &) { return false; }

// The name of the directory that has the files of a checkpoint.
std::string directory_name(const CheckpointId &id);
std::optional<CheckpointId> id_of_directory(std::string_view directory_name);

// The names of a rank's files begin with its number and a dot.
std::string image_name(int rank);
std::string stored_record_name(int rank); // the record, until all ranks have stored the checkpoint
std::string committed_record_name(int rank); // the record of a committed checkpoint
std::optional<int> rank_of_file(std::string_view file_name);

// Written when a root is committed: its checkpoints up to a number, of the sessions that the
// program knew, are no longer valid.
struct CommitMarker {
    uint64_t number = 0;
    std::set<uint64_t> sessions;
    bool is_for(const CheckpointId &id) const {
        return id.number <= number && sessions.contains(id.session);
    }
    bool operator==(const CommitMarker &) const = default;
};

// "forgotten-NUMBER"
std::string commit_marker_name(uint64_t number);
std::optional<uint64_t> number_of_commit_marker(std::string_view file_name);
redset::KvTree commit_marker_tree(const CommitMarker &marker);
Status read_commit_marker(const redset::KvTree &tree, const char *file, CommitMarker &marker);

// The record that a rank writes beside its files of a checkpoint: which ranks protect it.
struct Record {
    CheckpointId id;
    int rank = 0;
    int participants = 0; // how many ranks have a root of that name
    redset::Set set;
    bool operator==(const Record &) const = default;
};

redset::KvTree record_tree(const Record &record);
Status read_record(const redset::KvTree &tree, const char *file, Record &record);

} // namespace cd::checkpoint
