// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "payload/mpi_status.h"
#include "replay/divergence.h"
#include "replay/poll_counts.h"

#include <tuple>

namespace cd::logger {

// Records probes: calls that ask whether a message has come.
class Probe : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(a...);
        }
        const Call call = decode_data<F>(site, a...);
        if (call.arguments.flag == nullptr || no_status(call.arguments.status)) {
            return call_mpi<F>(a...); // which is an error
        }
        if (may_have_answer(mode)) {
            const int result = replay(call);
            return result == run_live ? Probe::call<F>(site, a...) : result;
        }
        const ReentryGuard inside;
        MPI_Status own = {};
        StatusLoan loan(call.arguments.status, own);
        std::tuple<A...> arguments(a...);
        std::get<Row<F>::Roles::index(Role::status)>(arguments) = loan.to();
        const int result = std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
        record(call, result, loan.written());
        return result;
    }

private:
    static void record(const Call &call, int result, const MPI_Status &status);
    static int replay(const Call &call);
};

} // namespace cd::logger
