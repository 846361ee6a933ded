// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "requests/request.h"

namespace cd::logger {

// MPICH 4.0 says of an MPI_Rget with a derived type that it is complete before its data are there.
// The program gets a request of ours instead, which is complete, too; but it is told so by
// calls of ours only, and these wait for the data. Returns whether request is such a one now.
bool give_own_request(MPI_Request *request);

// MPI says that it is complete: waits for what it brings.
void await_data_of_own(const Request &request);
inline void await_data(const Request &request) {
    if (request.complete_without_data) [[unlikely]] {
        await_data_of_own(request);
    }
}

} // namespace cd::logger
