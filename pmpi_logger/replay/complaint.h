// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry.h"

#include <mpi.h>

namespace cd::logger {

// What the logger has to say, and what it makes MPI's error handlers do. It never ends the program
// by itself, unless CD_ON_DIVERGENCE=abort asks for that.

// The result of a replayed call that has to be made for real after all.
constexpr int run_live = -1;

// The entry that should answer the call cannot be read any more: says so. Returns the result of the
// call, as diverged() does.
int unreadable(const Call &call);

// The program does something else than the log, which is where that is: says what both do, and
// where. Returns the result of the call. The replay has stopped there.
int diverged(const Call &call, const EntryHeader &logged, const char *difference);

// A call after that: says once that it and the others fail. Returns its result.
int fail_after_difference(const Call &call);

// Who calls an error handler. What that calls itself is part of MPI's call, but for the program's.
enum class CalledBy { mpi, program };

// As MPI does when a call on comm fails: calls the error handler, and returns the error.
int raise(MPI_Comm comm, int error, CalledBy by = CalledBy::mpi);

// Of an error that is in the log, on the communicator of the call, or of the request that failed:
// on that of all processes where the program would end, and on none if it ends there, too.
int raise_logged(MPI_Comm comm, int error);
int raise_logged_of_request(MPI_Comm comm, int error);

// The same with a file, which may be closed.
void raise_at(MPI_File file, int error, CalledBy by = CalledBy::mpi);

// The same by what the call is about: a communicator or a file.
int raise(const Call &call, int error);

// A re-execution asks about something that MPI has freed since the first one, and that no log
// tells: says why it is not known, and what to do about it. The call fails.
void complain_unknown(Fn fn, const void *site, const char *why);

// Says that so many requests will fail, since the program has deleted the log that has their data.
void complain_of_deleted_log(int requests);

// Says that CD_ON_DIVERGENCE is not understood, if that is so.
void check_on_divergence();

// A thread that has no CD makes a call while another one replays a log: says so, once.
void complain_of_bystander(Fn fn);

// The call cannot be replayed, so a CD that logs refuses it: says why, and fails.
int refuse(Fn fn, const char *reason);

} // namespace cd::logger
