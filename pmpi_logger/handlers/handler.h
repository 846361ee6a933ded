// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/decode.h"
#include "log_entry/writer.h"
#include "mpi/differences.h"
#include "mpi/fortran_real.h"
#include "mpi/real.h"
#include "mpi/record_failure.h"
#include "mpi/reentry_guard.h"
#include "payload/comm_cache.h"
#include "payload/received_data.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <tuple>

namespace cd::logger {

// The row of functions.def for F.
template <Fn F> struct Row;

// Returns the call with its arguments decoded.
template <Fn F, typename... A> [[gnu::always_inline]] inline Call decode(const void *site, A... a) {
    Call call(F, site);
    note_all(typename Row<F>::Roles{}, call.arguments, a...);
    take_all(typename Row<F>::Roles{}, call, a...);
    return call;
}

// The base of handlers whose third column in functions.def names the data that arrive.
struct MovesData {
    using Of = Arrivals;

protected:
    template <Fn F, typename... A> static Call decode_data(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        Call call(F, site);
        call.arrival = &Row<F>::of;
        note_all(Roles{}, call.arguments, a...);
        if constexpr (!Arrivals::is_plain(Row<F>::of)) {
            if (call.arrival->matter != nullptr) {
                const ReentryGuard inside;
                call.matter = call.arrival->matter(call.arguments);
            }
        }
        if constexpr (Roles::has(Role::operation) && Roles::has(Role::send_type)) {
            const std::tuple<A...> arguments(a...);
            call.matter.sent = std::get<Roles::index(Role::operation)>(arguments) != MPI_NO_OP;
        }
        take_all(Roles{}, call, a...);
        if constexpr (Roles::has(Role::send_counts)) {
            call.add_word(shape_of(call.arguments, call.arrival->sent));
        }
        if constexpr (Roles::has(Role::recv_counts)) {
            call.add_word(shape_of(call.arguments, call.arrival->received));
        }
        if constexpr (Roles::has(Role::comm) && !Arrivals::is_plain(Row<F>::of)) {
            const ReentryGuard inside;
            call.failure = failure_of(call.arguments.comm);
        }
        if constexpr (F == Fn::MPI_Ineighbor_allgatherv && fortran_writes_into_request) {
            const bool logs = cd_log_mode() != CD_LOG_OFF && !RecordAll::records();
            if (logs && is_from_fortran(site)) {
                call.failure = refuse(F, "Open MPI's Fortran routine writes into the request: use "
                                         "MPI_Neighbor_allgatherv, or call it from C");
            }
        }
        return call;
    }

private:
    // Returns a checksum of the number and type of elements in each piece.
    static uint64_t shape_of(const Arguments &arguments,
                             void (*pieces_of)(const Arguments &, Blocks &)) {
        const ReentryGuard inside;
        Blocks pieces;
        pieces_of(arguments, pieces);
        uint64_t sum = 0;
        for (const Block &piece : pieces) {
            const uint64_t shape[] = {static_cast<uint64_t>(piece.count),
                                      facts_of(piece.type).signature};
            sum = checksum(shape, sizeof shape, sum);
        }
        return sum;
    }
};

// Says fast whether the thread logs. Most calls find that it has no active CD.
class Logging {
public:
    static bool is_possible() { return __atomic_load_n(possible_, __ATOMIC_RELAXED) != 0; }

    // Returns what cd_log_mode() returns.
    static int mode() {
        if (possible_ == &unknown) [[unlikely]] {
            first_call();
        }
        return is_possible() ? cd_log_mode() : CD_LOG_OFF;
    }

    // Returns true if the thread has recorded something and has neither changed its CDs nor deleted
    // a log since, while nobody replays. Then its mode is still CD_LOG_RECORDING, unless another
    // thread has ended the CD or a callback of the library runs. Returns false in doubt.
    static bool still_records() {
        return EntryWriter::last_written() != nullptr &&
               __atomic_load_n(replays_.load(std::memory_order_relaxed), __ATOMIC_RELAXED) == 0;
    }

private:
    [[gnu::noinline]] static void first_call() {
        if (RecordAll::begin_thread()) {
            replays_.store(cd_log_replays(), std::memory_order_relaxed);
            possible_ = cd_log_possible();
        }
    }

    static constexpr int unknown = 1; // unequal 0, so that cd_log_mode() is asked
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local const int *possible_ =
        &unknown;
    static inline constinit std::atomic<const int *> replays_ = &unknown;
};

// Returns whether the call goes to MPI only: nothing is logged, or MPI itself makes it.
inline bool passes_through(int mode) { return mode == CD_LOG_OFF || ReentryGuard::mpi(); }

// Records a call by its result alone. `make` makes it. A replay calls `replayed` with the recorded
// result instead, and returns what that returns.
template <typename Make, typename Replayed>
int record_result(const Call &call, int mode, const Make &make, const Replayed &replayed) {
    int result = MPI_SUCCESS;
    if (mode == CD_LOG_REPLAYING) {
        if (const std::optional<EntryReader> entry = next_entry(call, result)) {
            return replayed(entry->result());
        }
        if (result != run_live) {
            return result;
        }
    }
    result = make();
    if (mode != CD_LOG_OFF) {
        EntryWriter(call, result).write();
    }
    return result;
}

} // namespace cd::logger
