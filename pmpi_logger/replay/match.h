// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/reader.h"
#include "requests/request.h"

#include <optional>

namespace cd::logger {

bool same_call(const Call &call, const EntryHeader &logged);

// The next entry of the log, if it records this call; else nothing, and result is the call's.
// Polls that found nothing and readings of the clock are passed over: how often a program asks may
// depend on its speed.
std::optional<EntryReader> next_entry(const Call &call, int &result);

// The same if it is the very next one; else nothing, and the log is where it was.
std::optional<EntryReader> next_entry_if_same(const Call &call);

// The entry that was read last does not fit after all.
int not_matching(const Call &call, const EntryReader &entry, const char *difference);

// What a request brought that the program had freed while it was under way: no call of the program
// says when, so it has an entry of its own, which stands before that of the next call.
void record_arrived(const Request &request, const MPI_Status &status, int result);

// A replay comes to such an entry. False, and nothing delivered, if the data do not fit.
[[nodiscard]] bool deliver_arrived(EntryReader &entry);

} // namespace cd::logger
