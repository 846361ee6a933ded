// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry_header.h"

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Messages of the logger, and calls of MPI's error handlers. The logger never ends the program by
// itself, unless CD_ON_DIVERGENCE=abort asks for that.

// The result of a replayed call that MPI has to make after all.
constexpr int run_live = -1;

// Reports that the entry which should answer the call cannot be read any more. Returns the result
// of the call, as diverged() does.
int unreadable(const Call &call);

// Reports that the program does something else than the log: both calls, and where they are. Stops
// the replay. Returns the result of the call.
int diverged(const Call &call, const EntryHeader &logged, const char *difference);

// Reports once that calls after a divergence fail. Returns the result of the call.
int fail_after_difference(const Call &call);

// Calls the error handler of `comm`, as MPI does when a call fails, and returns the error. For a
// connection that MPI has ended, calls that of MPI_COMM_WORLD.
int raise(MPI_Comm comm, int error);

// Raise an error of the log on the communicator of the call, or of the request that failed. If its
// handler ends the program, they use MPI_COMM_WORLD, and raise nothing if that also ends it.
int raise_logged(MPI_Comm comm, int error);
int raise_logged_of_request(MPI_Comm comm, int error);

// Raises an error on the object of the call: a communicator or a file.
int raise(const Call &call, int error);

// Reports that a re-execution asks for something that MPI has freed since and that no log has: why,
// and what to do. The call fails.
void report_unanswerable(Fn fn, const void *site, const char *why);

// Reports how many requests will fail, since the program has deleted the log with their data.
void report_deleted_log(int requests);

// Returns whether the word in the log is that of one of MPI's own operations.
bool is_predefined_operation(uint64_t word);

// Reports an invalid CD_ON_DIVERGENCE.
void check_on_divergence();

// Reports why a logging CD refuses a call that cannot be replayed, and fails.
int refuse(Fn fn, const char *reason);

} // namespace cd::logger
