// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/folder.h"
#include "checkpoint/redundancy_sets.h"

#include <vector>

namespace cd::checkpoint {

// What there is of a root's points in time in all directories, as all ranks know it. Ranks that see
// the same directory have one among them that speaks for it.
struct Findings {
    std::vector<int> ranks;        // by position in the job
    std::vector<int> speakers;     // by position: the position of who tells of its directory
    std::vector<Content> contents; // by position; empty but for those who speak

    // The largest number that any attempt had.
    uint64_t last_number() const;
    // Whether it does not count any more, as far as these directories tell.
    bool has_forgotten(const CheckpointId &point) const;
    // Whether no restart can come to it, also if there are directories that nobody sees now: it
    // counted nowhere, as some rank had not stored it, or as each one has and none has learnt that
    // the others have; all see copies. Nor can what there is nothing of but directories. But where
    // no earlier one counts, records may have been lost: what may be brought back can be counted.
    bool can_never_count(const CheckpointId &point) const;
    // Whether nobody has anything.
    bool nothing() const;
    // The points in time that counted at some time.
    std::vector<CheckpointId> agreed() const;
};

// identities: what tells directories apart, by position.
std::vector<int> find_speakers(const std::vector<std::string> &identities);

// Of a directory that several nodes see, one tells what is there. first: by position, whom who
// speaks sees first among all who speak for its directory on their nodes; only those who come
// before it are believed to.
std::vector<int> find_common_speakers(const std::vector<int> &speakers,
                                      const std::vector<int> &first);

// The sets that protect a point in time. CD_ERROR_REDUNDANCY_EXCEEDED when nothing tells of some,
// what is wrong with the records when none of a set's can be read, CD_ERROR_RESTART_MISMATCH when
// it was other ranks that stored it.
Status find_sets(const Findings &findings, const CheckpointId &point, Division &division);

// A file that has to get to a rank's directory from another one.
struct Transfer {
    int from = 0; // positions
    int to = 0;
    std::string name;
    uint64_t size = 0;
    bool operator==(const Transfer &) const = default;
};

// Whose own directory has a file stays with that, unless it has not the size that it was given and
// a copy elsewhere has. A copy that has not is not moved: it is damaged, whatever its size says.
std::vector<Transfer> find_transfers(const Findings &findings, const CheckpointId &point);

// The copies elsewhere of ranks' files, those of which a rank has one, too, which may be damaged.
std::vector<Transfer> find_copies_elsewhere(const Findings &findings, const CheckpointId &point);

// Whether all ranks have all that records tell of where they need it, as far as names and sizes
// tell.
bool is_in_place(const Findings &findings, const CheckpointId &point);

// CD_ERROR_REDUNDANCY_EXCEEDED where names alone tell that too much of a set is lost, also when
// these files are where they are needed. What else is wrong with files is found by who rebuilds.
Status check_cover(const Findings &findings, const CheckpointId &point, const redset::Set &set,
                   const std::vector<Transfer> &transfers);

} // namespace cd::checkpoint
