// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/family.h"
#include "payload/status.h"
#include "replay/complaint.h"

#include <tuple>

namespace cd::logger {

// A call that is over when it returns. The log has its result, what it wrote, and the data that it
// brought; a replay writes all that again and tells nobody.
class Exchange : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return call_by<F>([](A... b) { return real<F>(b...); }, site, a...);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, A... a) {
        const int mode = cd_log_mode();
        if (passes_through(mode)) {
            return make(a...);
        }
        Call call = decode_data<F>(site, a...);
        if constexpr (Row<F>::Roles::has(Role::send_buf) || Row<F>::Roles::has(Role::recv_buf)) {
            add_checksum(call);
        }
        if (mode == CD_LOG_REPLAYING) {
            const int result = replay(call, Row<F>::Roles::has(Role::status));
            return result == run_live ? Exchange::call_by<F>(make, site, a...) : result;
        }
        const Inside inside;
        if constexpr (Row<F>::Roles::has(Role::status)) {
            StatusLoan loan(call.arguments.status);
            std::tuple<A...> arguments(a...);
            std::get<Row<F>::Roles::index(Role::status)>(arguments) = loan.to();
            const int result = std::apply(make, arguments);
            record(call, result, loan.to(), loan.settle());
            return result;
        } else {
            const int result = make(a...);
            record(call, result, nullptr, false);
            return result;
        }
    }

    // Adds the checksum of what is sent to the call's words.
    static void add_checksum(Call &call);

    // What other families have in common with this one.
    static void record(const Call &call, int result, const MPI_Status *status, bool error_written);
    static int replay(const Call &call, bool has_status);
};

} // namespace cd::logger
