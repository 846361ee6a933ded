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

} // namespace

Status wait_for(std::span<MPI_Request> requests, const char *what) {
    int done = 0;
    for (int looks = 1; done == 0; looks = std::min(looks + 1, looks_before_sleep)) {
        const int code = own().testall(static_cast<int>(requests.size()), requests.data(), &done,
                                       MPI_STATUSES_IGNORE);
        if (Status status = outcome(code, what); !status) {
            return status;
        }
        if (done == 0 && looks < looks_before_sleep) {
            std::this_thread::yield();
        } else if (done == 0) {
            std::this_thread::sleep_for(sleep);
        }
    }
    return Status::ok();
}

} // namespace cd::mpi
