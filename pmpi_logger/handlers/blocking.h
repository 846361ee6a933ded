// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "log_entry/fast_entry.h"
#include "payload/mpi_status.h"
#include "payload/pack.h"
#include "replay/divergence.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace cd::logger {

// Records calls that are complete when they return: result, outputs and received data. A replay
// writes them again and sends nothing.
class Blocking : public MovesData {
public:
    static constexpr bool guards_itself = true;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return Logging::is_possible() ? log<F>(site, a...) : real<F>(a...);
    }

    // Records or replays the call; for other handlers, too. Not inlined, so that calls without a
    // log save no registers. `site` comes last, so that the arguments stay in their registers.
    template <Fn F, typename... A> static int log(const void *site, A... a) {
        return Apart<F, A...>::log(a..., site);
    }

    // `make` makes the call, by the C or the Fortran function.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, A... a) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
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
            return result == run_live ? Blocking::call_by<F>(make, site, a...) : result;
        }
        const ReentryGuard inside;
        if constexpr (Row<F>::Roles::has(Role::status)) {
            MPI_Status own = {};
            StatusLoan loan(call.arguments.status, own);
            std::tuple<A...> arguments(a...);
            std::get<Row<F>::Roles::index(Role::status)>(arguments) = loan.to();
            const int result = std::apply(make, arguments);
            record_as<F>(call, result, &loan.written());
            return result;
        } else {
            const int result = make(a...);
            record_as<F>(call, result, nullptr);
            return result;
        }
    }

    // Does what add_checksum() does, faster where the row of functions.def says what is sent.
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

    // Adds the checksum of the sent data to the call's words.
    static void add_checksum(Call &call);

    // Record or replay a decoded call, also for other handlers.
    static void record(const Call &call, int result, const MPI_Status *status);
    static int replay(const Call &call, bool has_status);

private:
    template <Fn F, typename... A> struct Apart {
        [[gnu::noinline]] static int log(A... a, const void *site) {
            if constexpr (is_simple<F>()) {
                if (Logging::still_records() && !ReentryGuard::mpi()) [[likely]] {
                    return record_simple<F>(site, a...);
                }
            }
            return log_in_any_way<F>(site, a...);
        }
    };
    template <Fn F, typename... A>
    [[gnu::noinline]] static int log_in_any_way(const void *site, A... a) {
        return RecordFailure::guarded<F>(
            [&] { return call_by<F>([](A... b) { return call_mpi<F>(b...); }, site, a...); });
    }

    // True if the compared word is known at once, without a lock: the log is held meanwhile.
    static constexpr bool is_plainly_compared(Role role) {
        return is_compared(role) && role != Role::text && role != Role::text_at_root &&
               role != Role::type && role != Role::types && role != Role::numbers &&
               role != Role::numbers_2;
    }

    // True if the function moves at most one block each way and writes nothing else but a status.
    template <Fn F> static constexpr bool is_simple() {
        return Arrivals::is_plain(Row<F>::of) && Row<F>::Roles::all_are([](Role role) {
                   return is_plainly_compared(role) || role == Role::send_buf ||
                          role == Role::recv_buf || role == Role::status;
               });
    }

    struct NoLoan {
        NoLoan(MPI_Status *, const MPI_Status &) {}
    };

    // Does what call_by() does when it records, for the most frequent calls. No Call leaves this
    // function, so that none is built; as much as possible follows the MPI call. Kept
    // allocation-free: a receiver is waiting for this send.
    template <Fn F, typename... A>
    [[gnu::always_inline]] static inline int record_simple(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        constexpr bool has_status = Roles::has(Role::status);
        constexpr bool receives = Roles::has(Role::recv_buf);
        Arguments noted;
        note_all(Roles{}, noted, a...);
        Moved moved;
        if constexpr (receives) { // the buffers may overlap
            if (!moved.look_at_sent<F>(noted) || !moved.look_at_received<F>(noted)) [[unlikely]] {
                return log_in_any_way<F>(site, a...);
            }
        }
        const ReentryGuard inside;
        std::tuple<A...> arguments(a...);
        MPI_Status *wanted = MPI_STATUS_IGNORE;
        if constexpr (has_status) {
            wanted = std::get<Roles::index(Role::status)>(arguments);
        }
        MPI_Status own = {};
        std::conditional_t<has_status, StatusLoan, NoLoan> loan(wanted, own);
        if constexpr (has_status) {
            std::get<Roles::index(Role::status)>(arguments) = loan.to();
        }
        const int result = std::apply([](A... b) { return real<F>(b...); }, arguments);
        size_t most = everything;
        if constexpr (has_status) {
            most = result == MPI_SUCCESS ? bytes_received(loan.written()) : everything;
        }
        bool is_known = true;
        if constexpr (!receives) {
            is_known = moved.look_at_sent<F>(noted);
        }
        const size_t size = std::min(moved.size, most);
        if (is_known && size <= FastEntry::most_data) [[likely]] {
            constexpr bool is_received = Arrivals::is_received(Row<F>::of);
            FastEntry entry(count_compared(Roles{}) + (moved.sends ? 1 : 0),
                            (has_status ? sizeof(MPI_Status) : 0) +
                                (is_received ? sizeof(uint64_t) + size : 0));
            if (entry.has_room()) [[likely]] {
                entry.begin(F, result, site);
                add_words(Roles{}, entry, noted, moved, a...);
                if (moved.sends) {
                    entry.add(moved.sum);
                }
                if constexpr (has_status) {
                    entry.add(loan.written());
                }
                if constexpr (is_received) {
                    entry.add_data(moved.received, size);
                }
                entry.close();
                return result;
            }
        }
        Outcome outcome{site, result, nullptr, std::nullopt};
        if constexpr (has_status) {
            outcome.status = &loan.written();
        }
        if (receives && moved.sends) {
            outcome.sum = moved.sum;
        }
        record_at_length<F>(outcome, std::tuple<A...>(a...));
        return result;
    }

    // The data of a call, if their layout is cached and in order. The functions return false if it
    // is not.
    struct Moved {
        uint64_t sent_type = 0; // signatures
        uint64_t received_type = 0;
        bool sends = false;
        uint64_t sum = 0;                    // of what is sent
        size_t size = 0;                     // of the receive buffer
        const std::byte *received = nullptr; // the receive buffer

        template <Fn F>
        [[nodiscard, gnu::always_inline]] bool look_at_sent(const Arguments &noted) {
            using Roles = typename Row<F>::Roles;
            if constexpr (Roles::has(Role::send_type) || Roles::has(Role::both_type)) {
                const DatatypeFacts *const facts = TypeFactsCache::known(noted.send_type);
                if (facts == nullptr || !facts->in_order || facts->padded) [[unlikely]] {
                    return false;
                }
                sent_type = facts->signature;
                const size_t sent_size = bytes_in(noted.send_count, *facts);
                if constexpr (Roles::has(Role::both_type)) {
                    size = sent_size;
                    received = start_of(noted.recv_buf, *facts);
                    if (are_nowhere(received, size)) [[unlikely]] {
                        return false;
                    }
                }
                sends = Arrivals::is_sent(noted);
                return !sends || !SentData::are_compared() ||
                       add_up(start_of(noted.send_buf, *facts), sent_size);
            }
            return true;
        }
        template <Fn F>
        [[nodiscard, gnu::always_inline]] bool look_at_received(const Arguments &noted) {
            if constexpr (Row<F>::Roles::has(Role::recv_type)) {
                const DatatypeFacts *const facts = TypeFactsCache::known(noted.recv_type);
                if (facts == nullptr || !facts->in_order) [[unlikely]] {
                    return false;
                }
                received_type = facts->signature;
                size = bytes_in(noted.recv_count, *facts);
                received = start_of(noted.recv_buf, *facts);
                return !are_nowhere(received, size);
            }
            return true;
        }

    private:
        [[gnu::always_inline]] bool add_up(const std::byte *sent, size_t sent_size) {
            if (are_nowhere(sent, sent_size)) [[unlikely]] {
                return false;
            }
            sum = is_mixed_at_once(sent_size) ? mixed_at_once(sent, sent_size, 0)
                                              : checksum(sent, sent_size);
            return true;
        }
    };

    template <Role... Roles> static constexpr int count_compared(RoleList<Roles...>) {
        return (0 + ... + (is_compared(Roles) ? 1 : 0));
    }
    template <Role... Roles, typename... A>
    [[gnu::always_inline]] static void add_words(RoleList<Roles...>, FastEntry &entry,
                                                 const Arguments &noted, const Moved &moved,
                                                 A... a) {
        (add_word<Roles>(entry, noted, moved, a), ...);
    }
    template <Role R, typename T>
    [[gnu::always_inline]] static void add_word(FastEntry &entry, const Arguments &noted,
                                                const Moved &moved, T argument) {
        if constexpr (R == Role::send_type || R == Role::both_type) {
            entry.add(moved.sent_type);
        } else if constexpr (R == Role::recv_type) {
            entry.add(moved.received_type);
        } else if constexpr (is_compared(R)) {
            entry.add(word_as<R>(noted, argument));
        }
    }

    // The outcome of a call that record_simple() cannot record itself.
    struct Outcome {
        const void *site;
        int result;
        const MPI_Status *status;    // nullptr: the function has none
        std::optional<uint64_t> sum; // checksum of the sent data, if it is known
    };
    template <Fn F, typename... A>
    [[gnu::noinline]] static void record_at_length(const Outcome &outcome,
                                                   const std::tuple<A...> &arguments) {
        if (Logging::mode() == CD_LOG_OFF) {    // see still_records()
            EntryWriter::forget_last_written(); // CD_LOG=all may have to record what follows
            return;
        }
        try {
            Call call =
                std::apply([&](A... a) { return decode<F>(outcome.site, a...); }, arguments);
            if (outcome.sum) {
                call.add_word(*outcome.sum);
            } else {
                add_checksum_as<F>(call);
            }
            record_as<F>(call, outcome.result, outcome.status);
        } catch (const std::bad_alloc &) {
            RecordFailure::lose(F);
        }
    }

    // Returns the checksum of the sent data, if there are any.
    static std::optional<uint64_t> checksum_of_plain(const Arguments &arguments) {
        return Arrivals::is_sent(arguments)
                   ? std::optional(compared_checksum_of(Arrivals::sent(arguments)))
                   : std::nullopt;
    }

    template <Fn F> static void record_as(const Call &call, int result, const MPI_Status *status) {
        if constexpr (!Arrivals::is_plain(Row<F>::of)) {
            record(call, result, status);
        } else if constexpr (Arrivals::is_received(Row<F>::of)) {
            const Block received = Arrivals::received(call.arguments);
            record_plain(call, result, status, &received);
        } else {
            record_plain(call, result, status, nullptr);
        }
    }

    // `received`: nullptr if the call brings nothing.
    static void record_plain(const Call &call, int result, const MPI_Status *status,
                             const Block *received);
};

} // namespace cd::logger
