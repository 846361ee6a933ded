// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "entry/writer.h"
#include "families/family.h"
#include "families/freed_requests.h"
#include "interception/out_of_memory.h"
#include "payload/copy.h"
#include "payload/status.h"
#include "replay/complaint.h"

#include <optional>
#include <tuple>

namespace cd::logger {

// A call that is over when it returns. The log has its result, what it wrote, and the data that it
// brought; a replay writes all that again and tells nobody.
class Exchange : public MovesData {
public:
    static constexpr bool guards_itself = true;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return Logging::is_possible() ? log<F>(site, a...) : real<F>(a...);
    }

    // What call() does where there may be a log; for other families, too. Apart, so that what logs
    // nothing saves no registers.
    template <Fn F, typename... A> [[gnu::noinline]] static int log(const void *site, A... a) {
        return OutOfMemory::guarded<F, false>(
            [&]() __attribute__((always_inline)) { return log_guarded<F>(site, a...); },
            [&] { return real<F>(a...); });
    }

    // make: makes the call, as Fortran or as C.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            see_bystander<F>();
            return make(a...);
        }
        Call call = decode_data<F>(site, a...);
        if (call.failure != MPI_SUCCESS) {
            return call.failure;
        }
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
            const bool error_written = loan.settle();
            record_as<F>(call, result, &loan.written(), error_written);
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
            if (const auto sum = checksum_of_plain(call.arguments)) {
                call.add_word(*sum);
            }
        }
    }

    // Adds the checksum of what is sent to the call's words.
    static void add_checksum(Call &call);

    // What other families have in common with this one.
    static void record(const Call &call, int result, const MPI_Status *status, bool error_written);
    static int replay(const Call &call, bool has_status);

private:
    template <Fn F, typename... A>
    [[gnu::always_inline]] static int log_guarded(const void *site, A... a) {
        if constexpr (is_simple<F>()) {
            if (Logging::mode() == CD_LOG_RECORDING && !Inside::mpi()) [[likely]] {
                return record_simple<F>(site, a...);
            }
        }
        return log_in_any_way<F>(site, a...);
    }
    template <Fn F, typename... A>
    [[gnu::noinline]] static int log_in_any_way(const void *site, A... a) {
        return call_by<F>([](A... b) { return call_mpi<F>(b...); }, site, a...);
    }

    // Sends and receives a block at most, and writes nothing else but a status.
    template <Fn F> static constexpr bool is_simple() {
        return Arrivals::is_plain(Row<F>::of) && Row<F>::Roles::all_are([](Role role) {
                   return (is_compared(role) && role != Role::text) || role == Role::send_buf ||
                          role == Role::recv_buf || role == Role::status;
               });
    }

    struct NoLoan {
        explicit NoLoan(MPI_Status *) {}
    };

    // What call_by() does when it records, for what programs call most: no Call leaves this
    // function, so that most of it is never made, and what can be done after the call is. Somebody
    // waits for what is sent.
    template <Fn F, typename... A>
    [[gnu::always_inline]] static inline int record_simple(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        constexpr bool has_status = Roles::has(Role::status);
        constexpr bool receives = Roles::has(Role::recv_buf);
        const Inside inside;
        std::tuple<A...> arguments(a...);
        MPI_Status *wanted = MPI_STATUS_IGNORE;
        if constexpr (has_status) {
            wanted = std::get<Roles::index(Role::status)>(arguments);
        }
        std::conditional_t<has_status, StatusLoan, NoLoan> loan(wanted);
        if constexpr (has_status) {
            std::get<Roles::index(Role::status)>(arguments) = loan.to();
        }
        const auto checksum_of_sent = [&]() -> std::optional<uint64_t> {
            if constexpr (Roles::has(Role::send_type) || Roles::has(Role::both_type)) {
                Arguments sent_by;
                note_all(Roles{}, sent_by, a...);
                return checksum_of_plain(sent_by);
            }
            return std::nullopt;
        };
        std::optional<uint64_t> sent;
        if constexpr (receives) { // perhaps where it has been sent from
            sent = checksum_of_sent();
        }
        const int result = std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
        bool error_written = false;
        if constexpr (has_status) {
            error_written = loan.settle();
        }
        if constexpr (!receives) {
            sent = checksum_of_sent();
        }

        FreesRequest::look_for_arrivals();
        EntryWriter writer(F, site, result);
        const Call call = decode<F>(site, a...); // now, so that it goes into the log at once
        writer.add_words(call);
        if (sent) {
            writer.add_word(*sent);
        }
        if constexpr (has_status) {
            writer.add(loan.written());
            if (error_written) {
                writer.set(EntryHeader::status_error_written);
            }
        }
        if constexpr (Arrivals::is_received(Row<F>::of)) {
            size_t most = everything;
            if constexpr (has_status) {
                most = result == MPI_SUCCESS ? bytes_received(loan.written()) : everything;
            }
            writer.add_data(Arrivals::received(call.arguments), most);
        }
        writer.write();
        return result;
    }

    // Of what is sent, if something is.
    static std::optional<uint64_t> checksum_of_plain(const Arguments &arguments) {
        return Arrivals::is_sent(arguments)
                   ? std::optional(compared_checksum_of(Arrivals::sent(arguments)))
                   : std::nullopt;
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
