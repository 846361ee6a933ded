// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "checkpoint/job.h"
#include "checkpoint/options.h"
#include "checkpoint/redundancy_sets.h"

#include <optional>
#include <string>
#include <vector>

namespace cd::checkpoint {

// The checkpoints of a root in one store, on all nodes. All ranks have the same inventory. One of
// the ranks that see a directory reports its content.
struct Inventory {
    std::vector<int> ranks;        // by position in the job
    std::vector<int> reporters;    // by position: the position of who reports its directory
    std::vector<Content> contents; // by position; empty but for reporters

    // The largest number that any checkpoint or commit marker has.
    uint64_t last_number() const;
    // Whether a commit marker is for the checkpoint, which is no longer valid then.
    bool is_of_committed_root(const CheckpointId &id) const;
    // Whether no restart can start from the checkpoint, even if nodes are away: some rank has not
    // stored it, or all have and none has recorded that all did, or nothing of it is there. A copy
    // is in a directory that all nodes see.
    bool can_never_be_committed(const CheckpointId &id) const;
    std::vector<CheckpointId> committed() const;
};

// The checkpoint that all ranks start from, and the store that has it.
struct Start {
    CheckpointId id;
    size_t store = 0;
};

// identities: of each position's directory. Gives the first position with the same identity.
std::vector<int> find_reporters(const std::vector<std::string> &identities);

// first: by position, the lowest-ranked reporter that a reporter sees in its directory. Gives one
// reporter for each directory that several nodes see.
std::vector<int> find_common_reporters(const std::vector<int> &reporters,
                                       const std::vector<int> &first);

// Locks the stores against other jobs and takes the inventory of each. inventories: by store, with
// the reporters of each node; then with one for each directory. All ranks get the same outcome.
// Does not throw.
Status take_inventories(Job &job, uint64_t session, std::vector<OpenStore> &stores,
                        std::vector<Inventory> &inventories);

// Gathers the contents of all ranks by position. own: whether this rank could read its content.
Status gather_contents(Job &job, Status own, const Content &content,
                       std::vector<Content> &contents);

// Whether a commit marker in any of the stores is for the checkpoint.
bool is_of_committed_root(const std::vector<Inventory> &inventories, const CheckpointId &id);

// The committed checkpoints of all stores, the newest first. May throw.
std::vector<Start> all_committed(const std::vector<Inventory> &inventories);

// CD_ERROR_RESTART_MISMATCH where another node has a newer checkpoint of the root than all of
// `starts`, and CD_RESTART does not say what to start from. May throw.
Status check_nothing_newer_elsewhere(const std::vector<Elsewhere> &elsewhere,
                                     const Request &request,
                                     const std::vector<Inventory> &inventories,
                                     const std::vector<Start> &starts);

// Keeps of `starts` what CD_RESTART asks for. Warns where nothing is there at all. May throw.
Status apply_restart_choice(Job &job, const Request &request, std::vector<Start> &starts);

// Gives the sets that protect a checkpoint. CD_ERROR_REDUNDANCY_EXCEEDED where no record of a set
// can be read, CD_ERROR_RESTART_MISMATCH where other ranks stored the checkpoint.
Status find_sets(const Inventory &inventory, const CheckpointId &id, Division &division);

// A file that a rank needs from another rank's directory.
struct Transfer {
    int from = 0; // positions
    int to = 0;
    std::string name;
    uint64_t size = 0;
    bool operator==(const Transfer &) const = default;
};

// Files that ranks have in directories of other nodes only, but for records.
std::vector<Transfer> find_transfers(const Inventory &inventory, const CheckpointId &id);

} // namespace cd::checkpoint
