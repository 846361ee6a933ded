// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"

namespace cd::logger {

// Functions that concern this process alone and give the same in each execution: not intercepted.
struct Local {
    using Of = Arrivals;
};

// Functions that one rank alone cannot replay. A CD that logs refuses them; CD_LOG=all lets them
// pass.
class Refused {
public:
    struct Of {
        static constexpr const char *shared_window =
            "other ranks change the memory of a shared window without MPI";
        static constexpr const char *attached_memory =
            "other ranks change memory that is attached to a window where it lies";
        static constexpr const char *fault_tolerance =
            "all ranks take part in fault tolerance, and one alone cannot replay it";
        static constexpr const char *session_handler =
            "a restore cannot bring back a session's error handler: give it to MPI_Session_init";
        static constexpr const char *separate_buffer =
            "the logger copies only messages in the buffer of MPI_Buffer_attach";
        static constexpr const char *experimental =
            "the logger does not know this extension of the MPI library";
        static constexpr const char *extended_generalized =
            "extended generalized requests are polled by functions that a replay would not call";
    };

    template <Fn F, typename... A> static int call(const void *, A... a) {
        if (passes_through(Logging::mode()) || RecordAll::records()) {
            return call_mpi<F>(a...);
        }
        return refuse(F, Row<F>::of);
    }
};

} // namespace cd::logger
