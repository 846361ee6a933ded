// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "checkpoint/dir_lock.h"
#include "checkpoint/inventory.h"
#include "redset/scan.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdctl {

// Identifies a checkpoint of a root. Its files may be in several directories.
struct Checkpoint {
    std::string root;
    cd::checkpoint::CheckpointId id;
    auto operator<=>(const Checkpoint &) const = default;
};

// Returns the checkpoint in whose directory a file lies, nothing for other files.
std::optional<Checkpoint> checkpoint_of(const std::filesystem::path &file);

// Knows which checkpoints were committed, from the records in the given directories, those below
// them and the one above them. Keeps jobs from using these while it lives.
class Checkpoints {
public:
    // `dry_run`: takes no locks, only checks that no job has one.
    Checkpoints(const std::vector<std::string> &directories, bool dry_run);

    enum class Standing {
        committed,  // or no checkpoint of ours
        unfinished, // has no record of a commit, while another one of its root has
        unrecorded, // no checkpoint of its root has a record: they may have been lost
        removed,    // its root was committed
    };
    Standing of(const std::optional<Checkpoint> &checkpoint) const;

    // False if no record of one of its sets can be read. True for no checkpoint of ours.
    bool has_records_of(const std::optional<Checkpoint> &checkpoint, int group) const;

    // Fails if a job uses the checkpoints of its root, or their records cannot be read.
    cd::Status check_usable(const std::optional<Checkpoint> &checkpoint) const;

private:
    struct Root {
        cd::checkpoint::Inventory inventory;
        cd::SavedStatus problem; // why it cannot be used
    };

    void read_directory(const std::filesystem::path &directory, bool dry_run);
    const Root *root_of(const std::optional<Checkpoint> &checkpoint) const;

    std::map<std::string, Root> roots_; // by name
    std::vector<std::unique_ptr<cd::checkpoint::DirLock>> locks_;
};

// A set with the places of its members' files.
struct WholeSet {
    const cd::redset::FoundSet *found;
    const std::vector<cd::redset::Place> *places;
};

// Writes the record for each rank that the checkpoint is committed. Fails with CD_ERROR_ARGUMENT if
// one of its sets is missing.
cd::Status commit_checkpoint(const std::vector<WholeSet> &sets);

} // namespace cdctl
