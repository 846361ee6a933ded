// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/replay_range.h"
#include "log_entry/reader.h"
#include "requests/request.h"

#include <cstddef>
#include <cstdint>

namespace cd::logger {

// A thread that goes on live may end the replays of others, which are in calls of their own
// meanwhile. What the log has of their requests is left here, until they come for it.

// What comes next in the entry is what the request with this number has brought.
void leave_behind(uint64_t id, EntryReader &entry, size_t blocks, const MPI_Status &status,
                  int result);

// MPI has one now that is complete, and the data are where the program wants them. False if nothing
// has been left for it.
bool take_left_behind(Request &request);

// Nobody will come for it: the request is gone; a restore has gone back behind its start; or no
// restore reaches the log that has the start, as root, which logs to the family, has ended
// (nullptr) or has it no more.
void forget_left_behind(uint64_t id);
void forget_left_behind(const Reach &restored);
void forget_left_behind(uint64_t family, cd_handle root);

} // namespace cd::logger
