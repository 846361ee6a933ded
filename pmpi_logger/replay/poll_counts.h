// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/reader.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <optional>

namespace cd::logger {

// Polls that found nothing stand in the log as one entry that counts them, also those of a few
// kinds in turn (poll_rounds.h). How often a program asks may depend on its speed, so a
// re-execution may ask less often. One that asks as often finds nothing as often, also where the
// log ends: else the next re-execution would be told more than it was.

// The poll found nothing, and has written its outputs.
void record_nothing(const Call &call, int result);

// How many polls the entry that this thread has read last has yet to answer, unless it does
// something else first.
inline uint64_t &polls_left() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local uint64_t left = 0;
    return left;
}

// Whether a poll is to ask for next_answer() rather than MPI.
inline bool may_have_answer(int mode) {
    return mode == CD_LOG_REPLAYING || (mode == CD_LOG_RECORDING && polls_left() > 0);
}

// The entry that answers a replayed poll: one that found nothing, as often as it did, or the next
// of the log. Nothing if there is none that fits; then result is the call's.
std::optional<EntryReader> next_answer(const Call &call, int &result);

// A CD of this thread has begun, has been advanced or has ended: what is recorded counts anew. What
// an entry has yet to answer in a replay it answers all the same, also after a restore to here.
void part_polls();

// This thread's log has been rewound to the point in time of cd.
void rewind_polls(cd_handle cd);

} // namespace cd::logger
