// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "checkpoint/inventory.h"
#include "redset/scan.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cdctl {

// A checkpoint of a root, in whichever directories it is.
struct Checkpoint {
    std::string root;
    cd::checkpoint::CheckpointId id;
    auto operator<=>(const Checkpoint &) const = default;
};

// Returns the checkpoint in whose directory a file lies, nothing for other files.
std::optional<Checkpoint> checkpoint_of(const std::filesystem::path &file);

// Knows which checkpoints were committed, as far as the directories given, those below them and the
// one above them tell.
class Checkpoints {
public:
    explicit Checkpoints(const std::vector<std::string> &directories);

    enum class Standing {
        committed,  // or no checkpoint of ours
        damaged,    // committed, and all records of the set that are left are damaged
        unfinished, // without a record of a commit, while another one of its level has one
        unrecorded, // the same, and none has one: records may have been lost
        removed,    // its root was committed
    };
    Standing of(const std::optional<Checkpoint> &checkpoint, int group) const;

    // Fails if the records of its root cannot be read, or are of several runs.
    cd::Status check_readable(const std::optional<Checkpoint> &checkpoint) const;

    // True if programs start from any checkpoint of its root.
    bool has_committed(const std::optional<Checkpoint> &checkpoint) const;

private:
    struct Directory {
        std::string path;
        std::set<uint64_t> sessions; // of the programs that wrote its checkpoints
    };
    struct Root {
        std::vector<Directory> directories;
        cd::checkpoint::Inventory findings;
        std::optional<cd::checkpoint::Unread> problem;
    };

    void look_into(const std::filesystem::path &directory);
    static void check_sessions(const std::string &name, Root &root);
    const Root *root_of(const std::optional<Checkpoint> &checkpoint) const;

    std::map<std::string, Root> roots_; // by name
};

// Keeps jobs from using the checkpoint that a set is of, while it lives. Sets that lie elsewhere
// are not locked.
class CheckpointLock {
public:
    // CD_ERROR_STORE_LOCKED: a job uses the checkpoint. `dry_run`: only checks that none does.
    cd::Status take(const cd::redset::FoundSet &found, bool dry_run);

private:
    std::vector<std::unique_ptr<cd::checkpoint::DirLock>> locks_;
};

// A set, and where its members' files are.
struct WholeSet {
    const cd::redset::FoundSet *found;
    std::vector<cd::redset::Place> places;
};

// Writes down for each rank that all of them have the checkpoint. CD_ERROR_ARGUMENT if a set of it
// is missing.
cd::Status commit_checkpoint(const std::vector<WholeSet> &sets);

} // namespace cdctl
