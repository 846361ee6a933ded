// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "entry/short_entry.h"
#include "families/family.h"
#include "families/freed_requests.h"
#include "interception/out_of_memory.h"
#include "payload/copy.h"
#include "payload/status.h"
#include "replay/complaint.h"

#include <algorithm>
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
            if (Logging::is_recording() && !Inside::mpi()) [[likely]] {
                return record_simple<F>(site, a...);
            }
        }
        return log_in_any_way<F>(site, a...);
    }
    template <Fn F, typename... A>
    [[gnu::noinline]] static int log_in_any_way(const void *site, A... a) {
        return call_by<F>([](A... b) { return call_mpi<F>(b...); }, site, a...);
    }

    // What is compared of it is known at once, without a lock: the log is held meanwhile.
    static constexpr bool is_plainly_compared(Role role) {
        return is_compared(role) && role != Role::text && role != Role::text_at_root &&
               role != Role::type && role != Role::types && role != Role::numbers &&
               role != Role::numbers_2;
    }

    // Sends and receives a block at most, and writes nothing else but a status.
    template <Fn F> static constexpr bool is_simple() {
        return Arrivals::is_plain(Row<F>::of) && Row<F>::Roles::all_are([](Role role) {
                   return is_plainly_compared(role) || role == Role::send_buf ||
                          role == Role::recv_buf || role == Role::status;
               });
    }

    struct NoLoan {
        explicit NoLoan(MPI_Status *) {}
    };

    // What call_by() does when it records, for what programs call most: no Call leaves this
    // function, so that it is never made, and what can be done after the call is. Somebody waits
    // for what is sent.
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
        Arguments told;
        note_all(Roles{}, told, a...);
        Moved moved;
        if constexpr (receives) { // perhaps where it has been sent from
            moved.look_at_sent<F>(told);
        }
        const int result = Course::begin(
            F, [&]() __attribute__((always_inline)) {
                return std::apply([](A... b) { return real<F>(b...); }, arguments);
            });
        bool error_written = false;
        size_t most = everything;
        if constexpr (has_status) {
            error_written = loan.settle();
            most = result == MPI_SUCCESS ? bytes_received(loan.written()) : everything;
        }
        if constexpr (!receives) {
            moved.look_at_sent<F>(told);
        }
        moved.look_at_received<F>(told);

        FreesRequest::look_for_arrivals();
        const size_t size = std::min(moved.received.size, most);
        const bool is_short =
            size <= ShortEntry::most_data && (size == 0 || moved.received.in_order != nullptr);
        if (is_short) [[likely]] {
            constexpr bool is_received = Arrivals::is_received(Row<F>::of);
            ShortEntry entry(count_compared(Roles{}) + (moved.sends ? 1 : 0),
                             (has_status ? sizeof(MPI_Status) : 0) +
                                 (is_received ? sizeof(uint64_t) + size : 0));
            if (entry.has_room()) [[likely]] {
                entry.begin(
                    F, error_written ? EntryHeader::status_error_written : EntryHeader::Flags{},
                    result, site);
                add_words(Roles{}, entry, told, moved, a...);
                if (moved.sends) {
                    entry.add(moved.sum);
                }
                if constexpr (has_status) {
                    entry.add(loan.written());
                }
                if constexpr (is_received) {
                    entry.add_data(moved.received.in_order, size);
                }
                entry.close();
                return result;
            }
        }
        const MPI_Status *status = nullptr;
        if constexpr (has_status) {
            status = &loan.written();
        }
        record_at_length<F>({site, result, status, error_written, moved.sends, moved.sum}, a...);
        return result;
    }

    // What MPI has told of what a call sends and receives, so that it is asked once.
    struct Moved {
        uint64_t sent_type = 0; // their signatures
        uint64_t received_type = 0;
        bool sends = false;
        uint64_t sum = 0; // of what is sent
        Contents received;

        template <Fn F> [[gnu::always_inline]] void look_at_sent(const Arguments &told) {
            using Roles = typename Row<F>::Roles;
            if constexpr (Roles::has(Role::send_type) || Roles::has(Role::both_type)) {
                const TypeFacts &facts = facts_of(told.send_type);
                sent_type = facts.signature;
                if (Arrivals::is_sent(told)) {
                    sends = true;
                    sum = compared_checksum_of(Arrivals::sent(told), facts);
                }
                if constexpr (Roles::has(Role::both_type)) {
                    received = contents_of(Arrivals::received(told), facts);
                }
            }
        }
        template <Fn F> [[gnu::always_inline]] void look_at_received(const Arguments &told) {
            if constexpr (Row<F>::Roles::has(Role::recv_type)) {
                const TypeFacts &facts = facts_of(told.recv_type);
                received_type = facts.signature;
                received = contents_of(Arrivals::received(told), facts);
            }
        }
    };

    template <Role... Roles> static constexpr int count_compared(RoleList<Roles...>) {
        return (0 + ... + (is_compared(Roles) ? 1 : 0));
    }
    template <Role... Roles, typename... A>
    [[gnu::always_inline]] static void add_words(RoleList<Roles...>, ShortEntry &entry,
                                                 const Arguments &told, const Moved &moved,
                                                 A... a) {
        (add_word<Roles>(entry, told, moved, a), ...);
    }
    template <Role R, typename T>
    [[gnu::always_inline]] static void add_word(ShortEntry &entry, const Arguments &told,
                                                const Moved &moved, T argument) {
        if constexpr (R == Role::send_type || R == Role::both_type) {
            entry.add(moved.sent_type);
        } else if constexpr (R == Role::recv_type) {
            entry.add(moved.received_type);
        } else if constexpr (is_compared(R)) {
            entry.add(word_as<R>(told, argument));
        }
    }

    // The same of any length, and where there is no room.
    struct Outcome {
        const void *site;
        int result;
        const MPI_Status *status; // nullptr: the function has none
        bool error_written;
        bool sends;
        uint64_t sum;
    };
    template <Fn F, typename... A>
    [[gnu::noinline]] static void record_at_length(const Outcome &outcome, A... a) {
        Call call = decode<F>(outcome.site, a...);
        if (outcome.sends) {
            call.add_word(outcome.sum);
        }
        record_as<F>(call, outcome.result, outcome.status, outcome.error_written);
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
