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

// Looks often at first.
class Pause {
public:
    bool is_long() const { return looks_ == looks_before_sleep; }
    void make() {
        if (is_long()) {
            std::this_thread::sleep_for(sleep);
        } else {
            ++looks_;
            std::this_thread::yield();
        }
    }

private:
    int looks_ = 1;
};

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
    Pause pause;
    // NOLINTNEXTLINE(bugprone-infinite-loop): MPI says when it is done
    while (done == 0) {
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = begun(comm, code, what); !status) {
            return status;
        }
        if (done == 0 && pause.is_long()) {
            if (Status status = check_called_off(comm, what); !status) {
                return status;
            }
        }
        if (done == 0) {
            pause.make();
        }
    }
    return Status::ok();
}

Status wait_until(std::chrono::steady_clock::time_point deadline, MPI_Request &request,
                  const char *what) {
    int done = 0;
    for (Pause pause; done == 0 && std::chrono::steady_clock::now() < deadline; pause.make()) {
        if (Status status = outcome(own().testall(1, &request, &done, MPI_STATUSES_IGNORE), what);
            !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace cd::mpi
