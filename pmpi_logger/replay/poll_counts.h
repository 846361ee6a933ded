// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/reader.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <optional>

namespace cd::logger {

// Consecutive equal polls that found nothing are one entry of the log, which counts them. A
// re-execution may poll less often, since that depends on its speed. One that polls as often finds
// nothing as often, also at the end of the log.

// Records a poll that found nothing and has written its outputs.
void record_nothing(const Call &call, int result);

// How many polls the entry that this thread read last still answers. Any other call ends that.
inline uint64_t &polls_left() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local uint64_t left = 0;
    return left;
}

// True if a poll must ask next_answer() rather than MPI.
inline bool may_have_answer(int mode) {
    return mode == CD_LOG_REPLAYING || (mode == CD_LOG_RECORDING && polls_left() > 0);
}

// Returns the entry that answers a replayed poll: the last one, or the next of the log. Nothing if
// none fits; then `result` is that of the call.
std::optional<EntryReader> next_answer(const Call &call, int &result);

// Ends the count, since a CD of this thread has begun, advanced or ended. A replay keeps what its
// last entry still answers.
void end_poll_count();

// Must be called when this thread's log was rewound.
void forget_polls();

} // namespace cd::logger
