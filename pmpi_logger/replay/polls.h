// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "entry/reader.h"

#include <optional>

namespace cd::logger {

// Polls that found nothing stand in the log as one entry that counts them. How often a program asks
// may depend on its speed, so a re-execution may ask less often, and stops where the log does.

// The poll found nothing, and has written its outputs.
void record_nothing(const Call &call, int result);

// The entry that answers a replayed poll: one that found nothing, as often as it did, or the next
// of the log. Nothing if there is none that fits; then result is the call's.
std::optional<EntryReader> next_answer(const Call &call, int &result);

// This thread's log has been rewound, or a CD has begun or ended: later polls count anew.
void forget_polls();

} // namespace cd::logger
