// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/waiting.h"

#include <thread>

namespace cd::mpi {

Status wait_for(std::span<MPI_Request> requests, const char *what) {
    for (int done = 0; done == 0;) {
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = outcome(code, what); !status) {
            return status;
        }
        if (done == 0) {
            std::this_thread::yield();
        }
    }
    return Status::ok();
}

} // namespace cd::mpi
