// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/family.h"
#include "payload/copy.h"
#include "payload/status.h"
#include "replay/complaint.h"

#include <tuple>

namespace cd::logger {

// A call that is over when it returns. The log has its result, what it wrote, and the data that it
// brought; a replay writes all that again and tells nobody.
class Exchange : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return Logging::is_possible() ? log<F>(site, a...) : real<F>(a...);
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return make(a...);
        }
        Call call = decode_data<F>(site, a...);
        if constexpr (Row<F>::Roles::has(Role::send_buf) || Row<F>::Roles::has(Role::recv_buf)) {
            add_checksum_as<F>(call);
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
            record_as<F>(call, result, loan.to(), loan.settle());
            return result;
        } else {
            const int result = make(a...);
            record_as<F>(call, result, nullptr, false);
            return result;
        }
    }

    // The same as add_checksum(), at once where the function's row tells what is sent.
    template <Fn F> static void add_checksum_as(Call &call) {
        using Roles = typename Row<F>::Roles;
        if constexpr (!Arrivals::is_plain(Row<F>::of)) {
            add_checksum(call);
        } else if constexpr (Roles::has(Role::send_type) || Roles::has(Role::both_type)) {
            if (Arrivals::is_sent(call.arguments)) {
                call.add_word(checksum_of(Arrivals::sent(call.arguments)));
            }
        }
    }

    // Adds the checksum of what is sent to the call's words.
    static void add_checksum(Call &call);

    // What other families have in common with this one.
    static void record(const Call &call, int result, const MPI_Status *status, bool error_written);
    static int replay(const Call &call, bool has_status);

private:
    // Apart, so that what logs nothing saves no registers.
    template <Fn F, typename... A> [[gnu::noinline]] static int log(const void *site, A... a) {
        return call_by<F>([](A... b) { return real<F>(b...); }, site, a...);
    }

    template <Fn F>
    static void record_as(const Call &call, int result, const MPI_Status *status,
                          bool error_written) {
        if constexpr (!Arrivals::is_plain(Row<F>::of)) {
            record(call, result, status, error_written);
        } else if constexpr (Arrivals::is_received(Row<F>::of)) {
            const Block received = Arrivals::received(call.arguments);
            record_plain(call, result, status, error_written, &received);
        } else {
            record_plain(call, result, status, error_written, nullptr);
        }
    }

    // received: nullptr if the call brings nothing.
    static void record_plain(const Call &call, int result, const MPI_Status *status,
                             bool error_written, const Block *received);
};

} // namespace cd::logger
