// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <cstddef>
#include <vector>

namespace cd::logger {

struct Call;
struct Request;

// Ends the replay of the thread's active CD, whose log is forgotten. The messages in what is left
// of it do not come again. So requests that the re-execution has started, and that the first
// execution completed, are completed from there first: they are waited for as if MPI had just done
// so. One of which the log has no data fails. The same of what logs of its children have left, for
// this thread's requests. False if the replay cannot be ended, since the log
// cannot be read: an ancestor has still to replay it.
[[nodiscard]] bool go_live();

// The same for what the logs have left that the program deletes with that of cd: entry by entry,
// and nullptr behind the last. Requests may be other threads', which do not use them meanwhile.
void take_left(cd_handle cd, const void *entry, size_t size);

// Whether a log is being replayed, by this thread or another one.
bool a_log_may_bring_more();

// The call is to complete requests, and goes to MPI, which knows nothing of those that only a log
// would complete. They have what another thread's going live has left of that. Once no log is being
// replayed, the others complete there; those that were to bring data fail: the log that has these
// is gone, or is another CD's.
void take_what_no_log_brings(const Call &call, const std::vector<Request *> &requests);

} // namespace cd::logger
