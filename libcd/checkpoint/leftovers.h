// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"

#include <optional>
#include <set>
#include <vector>

namespace cd::checkpoint {

// Whether a point in time in any of the stores does not count any more. A tombstone in one of them
// is for all.
bool is_forgotten(const std::vector<Findings> &findings, const CheckpointId &point);

// Attempts that can never count, by store; all ranks find the same, and do the same. Do not throw,
// as what follows.
class Leftovers {
public:
    Status find(Job &job, const std::vector<Findings> &findings);

    // Where there was no room for files of that point that have to be moved or made, and names and
    // sizes tell that all can start from it. Else everything stays as it is. removed: whether.
    Status remove_for(Job &job, const std::vector<OpenStore> &stores,
                      const std::vector<Findings> &findings, const Start &start, bool &removed);

    // On all nodes. What cannot be removed stays.
    Status remove(Job &job, const std::vector<OpenStore> &stores);

private:
    std::vector<std::set<CheckpointId>> points_; // none: there is nothing to remove
};

// Local stores that are not what all start from, nor older than that: a program without redundancy
// may have left them, or one whose points in time could not be protected.
Status note_local_stores(Job &job, const Request &request, const std::optional<Start> &start,
                         Remarks &remarks);

// Also where nothing is: what was stored and may be brought back, though no record says that it
// counted.
void note_unrecorded(Job &job, const Request &request, const std::vector<Findings> &findings,
                     Remarks &remarks);

} // namespace cd::checkpoint
