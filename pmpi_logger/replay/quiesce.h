// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "requests/request.h"

#include "cd/mpi_log.h"

#include <vector>

namespace cd::logger {

// Stops the requests that are under way for a restore. The memory that they write or read is about
// to change, and the re-execution will start some of them again.
//
//   receives    are cancelled, the latest first, so that no message passes an earlier one;
//               a message that was faster is kept for the re-execution
//   sends       go on from their copies
//   all others  are waited for, CD_QUIESCE_TIMEOUT seconds (10) at most, and their data are kept
//
// Requests that are older than the CD are not started again, and are as before when the program
// goes on.

// Returns nullptr, or why the CD cannot be restored. Then everything is as before.
const char *quiesce(cd_handle cd);

// Must be called after each quiesce() that succeeded.
void resume(cd_handle cd, bool restored);

// The program deletes the log of `cd` in the middle of its replay. Requests whose data only this
// log has will fail where they are waited for; says so on standard error.
void fail_requests_of_deleted_log(cd_handle cd);

// To be called before `call` asks MPI for `requests`, some of which may be nullptr. A request that
// only a log completes fails once no log is replayed any more: its log is gone, or belongs to
// another CD. A request that brings no data completes.
void fail_without_log(const Call &call, const std::vector<Request *> &requests);

} // namespace cd::logger
