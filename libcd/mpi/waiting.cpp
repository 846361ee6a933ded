// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/waiting.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cd::mpi {

namespace {

constexpr int looks_before_sleep = 50;
constexpr std::chrono::microseconds sleep{50};
constexpr int called_off = 2; // the tag of a message that says so

// It stays where it is: nothing else is to come on that communicator.
Status check_called_off(MPI_Comm comm, const char *what) {
    int arrived = 0;
    if (Status status = outcome(
            own().iprobe(MPI_ANY_SOURCE, called_off, comm, &arrived, MPI_STATUS_IGNORE), what);
        !status) {
        return status;
    }
    return arrived == 0
               ? Status::ok()
               : fail(CD_ERROR_STORE_IO,
                      "MPI cannot %s: it has failed in another rank, which called it off", what);
}

// Tells the others of comm, as far as MPI still can, not to wait for this rank any more.
void call_off(MPI_Comm comm) {
    int self = 0;
    int members = 0;
    own().comm_rank(comm, &self);
    own().comm_size(comm, &members);
    for (int peer = 0; peer < members; ++peer) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (peer != self &&
            own().isend(nullptr, 0, MPI_BYTE, peer, called_off, comm, &request) == MPI_SUCCESS) {
            own().request_free(&request);
        }
    }
}

} // namespace

Status begun(MPI_Comm comm, int code, const char *what) {
    Status status = outcome(code, what);
    if (!status) {
        call_off(comm);
    }
    return status;
}

Status wait_for(MPI_Comm comm, std::span<MPI_Request> requests, const char *what) {
    int done = 0;
    // NOLINTNEXTLINE(bugprone-infinite-loop): MPI says when it is done
    for (int looks = 1; done == 0; looks = std::min(looks + 1, looks_before_sleep)) {
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = begun(comm, code, what); !status) {
            return status;
        }
        if (done == 0 && looks < looks_before_sleep) {
            std::this_thread::yield();
        } else if (done == 0) {
            if (Status status = check_called_off(comm, what); !status) {
                return status;
            }
            std::this_thread::sleep_for(sleep);
        }
    }
    return Status::ok();
}

} // namespace cd::mpi
