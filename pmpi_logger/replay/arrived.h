// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/reader.h"
#include "requests/request.h"

namespace cd::logger {

// What a request brought that the program had freed while it was under way: no call of the program
// says when, so it has an entry of its own, which stands before that of the next call.
void record_arrived(const Request &request, const MPI_Status &status, int result);

// A replay comes to such an entry. False, and nothing delivered, if the data do not fit.
[[nodiscard]] bool deliver_arrived(EntryReader &entry);

} // namespace cd::logger
