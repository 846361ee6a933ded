// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

namespace cd::logger {

// What a restore needs of the requests that are under way. The memory that they write or read is
// about to change, and the re-execution will start some of them once more.
//
//   receives    are cancelled, the latest first, so that no message passes an earlier one; a
//   message
//               that was faster is kept for the re-execution
//   sends       go on from their shadows
//   all others  are waited for, for CD_QUIESCE_TIMEOUT seconds (10), and their data are kept
//
// Requests that the re-execution does not start, since they are older than the CD, are as they were
// when it goes on.

// Returns nullptr, or why the CD cannot be restored; then everything is as before.
const char *quiesce(cd_handle cd);

// After each quiesce() that succeeded.
void resume(cd_handle cd, bool restored);

} // namespace cd::logger
