// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "requests/request.h"

#include <cstddef>

namespace cd::logger {

// How many bytes came with a completion.
size_t bytes_brought(const Request &request, const MPI_Status &status, int result);

// The program gets what a request has brought that is complete, if it lies elsewhere.
void deliver_staged(const Request &request, const MPI_Status &status, int result);

// Delivers the data of a parked request.
void deliver_kept(const Request &request);

// MPI, or the log, has completed the request: it is not tracked any more, or is inactive if it is
// persistent.
void complete(Request &request);

} // namespace cd::logger
