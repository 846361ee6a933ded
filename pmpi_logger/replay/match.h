// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/reader.h"

#include <optional>

namespace cd::logger {

// Returns whether the entry has the function and the compared words of the call.
bool same_call(const Call &call, const EntryHeader &logged);

// Returns the next entry of the log if it records this call. Otherwise nothing, and `result` is
// that of the call. Skips polls that found nothing and readings of the clock, since how often a
// program asks may depend on its speed.
std::optional<EntryReader> next_entry(const Call &call, int &result);

// Returns the next entry if it records this call, without skipping any. Otherwise the log stays
// where it was.
std::optional<EntryReader> next_entry_if_same(const Call &call);

// Reports that the entry read last does not fit after all. Returns the result of the call.
int not_matching(const Call &call, const EntryReader &entry, const char *difference);

} // namespace cd::logger
