// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/decode.h"
#include "interception/inside.h"
#include "interception/real.h"
#include "payload/arrivals.h"
#include "whole_program/whole_program.h"

#include "cd/mpi_log.h"

namespace cd::logger {

// The row of functions.def.
template <Fn F> struct Row;

// One intercepted call, its arguments decoded.
template <Fn F, typename... A> Call decode(const void *site, A... a) {
    Call call;
    call.fn = F;
    call.site = site;
    note_all(typename Row<F>::Roles{}, call.arguments, a...);
    take_all(typename Row<F>::Roles{}, call, a...);
    return call;
}

// Families whose third column in the table says what arrives.
struct MovesData {
    using Of = Arrivals;

protected:
    template <Fn F, typename... A> static Call decode_data(const void *site, A... a) {
        Call call;
        call.fn = F;
        call.site = site;
        call.arrival = &Row<F>::of;
        note_all(typename Row<F>::Roles{}, call.arguments, a...);
        if constexpr (!Arrivals::is_plain(Row<F>::of)) {
            if (call.arrival->matter != nullptr) {
                const Inside inside;
                call.matter = call.arrival->matter(call.arguments);
            }
        }
        take_all(typename Row<F>::Roles{}, call, a...);
        return call;
    }
};

// What most calls of most programs find, in an instant: the thread has no active CD.
class Logging {
public:
    static bool is_possible() { return *possible_ != 0; }

    // As cd_log_mode() says.
    static int mode() {
        if (possible_ == &unknown) [[unlikely]] {
            possible_ = first_call();
        }
        return is_possible() ? cd_log_mode() : CD_LOG_OFF;
    }

private:
    [[gnu::noinline]] static const int *first_call() {
        WholeProgram::begin_thread();
        return cd_log_possible();
    }

    static constexpr int unknown = 1;
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local const int *possible_ =
        &unknown;
};

// The call goes to MPI and nowhere else: nothing is logged, or the program is inside MPI already.
inline bool passes_through(int mode) { return mode == CD_LOG_OFF || Inside::mpi(); }

} // namespace cd::logger
