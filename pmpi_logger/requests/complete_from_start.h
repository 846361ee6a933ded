// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Whether the request was complete when the call that started it returned. MPI then gives a handle
// that is no request's own: many requests have it at the same time.
bool complete_from_start(MPI_Request request);

} // namespace cd::logger
