// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "harness/scenario.h"

// A collective operation in the three ways in which it can be called. COLLECTIVE(Bcast, bcast)
// makes a scenario for each from
//     template <typename Call> void bcast_calls(Run &run, const Call &call)
// which gives call the arguments that the three have in common.
#ifdef CD_HAS_MPIX_Bcast_init
#define CD_PERSISTENT(name) MPIX_##name##_init
#else
#define CD_PERSISTENT(name) SIZED(MPI_##name##_init)
#endif

namespace cd::scenarios {

template <typename Start> int start_and_wait(const Start &start) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = start(&request);
    return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

#ifdef OPEN_MPI
constexpr int rounds = 2;
#else
constexpr int rounds = 1; // a second one fails in MPICH 4.0.2's MPI_Scatter_init
#endif

template <typename Init> int init_and_start(const Init &init) {
    MPI_Request request = MPI_REQUEST_NULL;
    int result = init(&request);
    for (int round = 0; round < rounds && result == MPI_SUCCESS; ++round) {
        result = MPI_Start(&request);
        result = result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
    }
    return result == MPI_SUCCESS ? MPI_Request_free(&request) : result;
}

} // namespace cd::scenarios

// If not all of the three have a form with large counts, give them in full.
#define COLLECTIVE_OF(name, calls, blocking, nonblocking, persistent)                              \
    SCENARIO(name, blocking) {                                                                     \
        calls(run, [](const auto &...a) { return blocking(a...); });                               \
    }                                                                                              \
    SCENARIO(started_##name, nonblocking) {                                                        \
        calls(run, [](const auto &...a) {                                                          \
            return start_and_wait(                                                                 \
                [&](MPI_Request *request) { return nonblocking(a..., request); });                 \
        });                                                                                        \
    }                                                                                              \
    SCENARIO_WITH_FIXED_BUFFERS(persistent_##name, persistent) {                                   \
        calls(run, [](const auto &...a) {                                                          \
            return init_and_start(                                                                 \
                [&](MPI_Request *request) { return persistent(a..., MPI_INFO_NULL, request); });   \
        });                                                                                        \
    }
#define COLLECTIVE(Name, name)                                                                     \
    COLLECTIVE_OF(name, name##_calls, SIZED(MPI_##Name), SIZED(MPI_I##name), CD_PERSISTENT(Name))
