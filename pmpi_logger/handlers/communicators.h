// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/free_objects.h"
#include "handlers/object_state.h"
#include "handlers/spawned.h"
#include "objects/callback_effects.h"
#include "payload/ended_connections.h"
#include "payload/private_comm.h"

#include <optional>

namespace cd::logger {

// Frees a communicator when no log needs it any more. MPI_Comm_disconnect of an intercommunicator
// takes place at once, since another job may wait for it; a replay then uses the handle without
// MPI.
class CommFree {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Comm *comm) {
        if (comm == nullptr || passes_through(Logging::mode()) || RecordAll::records()) {
            return ObjectFree::call<F>(site, comm);
        }
        if (const std::optional<EndedConnection> ended = EndedConnections::find_freed(*comm)) {
            return end<F>(site, comm, *ended);
        }
        if (F == Fn::MPI_Comm_free || !ObjectFree::can_wait<F>(*comm) || !is_connection(*comm)) {
            return ObjectFree::call<F>(site, comm);
        }
        const int failure = ObjectFree::failure_of_freed(*comm);
        return failure == MPI_SUCCESS ? end<F>(site, comm, about_to_end(*comm)) : failure;
    }

private:
    template <Fn F>
    static int end(const void *site, MPI_Comm *comm, const EndedConnection &connection) {
        const int result = Blocking::call_by<F>(ObjectFree::free_comm<F>, site, comm);
        const std::optional<cd_log_place> place = last_entry();
        if (*comm == MPI_COMM_NULL && place) {
            note_freed_at<EndedConnections>(connection, *place);
        }
        return result;
    }

    // Returns whether the communicator may lead to another job, which waits for the disconnect.
    static bool is_connection(MPI_Comm comm) {
        const ReentryGuard inside;
        return comm_facts_of(comm).inter != 0;
    }
    // Returns what a replay needs to know of the connection. No other thread finds it any more.
    static EndedConnection about_to_end(MPI_Comm comm);
};

// Questions about a communicator that MPI answers without other ranks. They are not recorded. Ranks
// and sizes of an ended connection are known; other questions about it fail.
class CommQuery {
public:
    using Of = Arrivals;
    static constexpr bool guards_itself = true;

    // Kept short, since programs call these functions most often.
    template <Fn F, typename... A> static int call(const void *site, MPI_Comm comm, A... a) {
        return EndedConnections::may_have(comm) ? ask<F>(site, comm, a...) : real<F>(comm, a...);
    }

    // `make` makes the call, by the C or the Fortran function.
    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, MPI_Comm comm, A... a) {
        return EndedConnections::has(comm) ? refuse_ended_connection(F, site, comm)
                                           : make(comm, a...);
    }

    // Reports that a question about an ended connection has no answer, and fails: the first
    // execution recorded none.
    static int refuse_ended_connection(Fn fn, const void *site, MPI_Comm comm);

private:
    // Not inlined, so that call() saves no registers.
    template <Fn F, typename... A>
    [[gnu::noinline]] static int ask(const void *site, MPI_Comm comm, A... a) {
        return RecordFailure::guarded<F>([&] { return ask_guarded<F>(site, comm, a...); });
    }
    template <Fn F, typename... A> static int ask_guarded(const void *site, MPI_Comm comm, A... a) {
        const std::optional<EndedConnection> ended = EndedConnections::find_freed(comm);
        if (!ended) {
            return call_mpi<F>(comm, a...);
        }
        if constexpr (is_a_fact<F>()) {
            return write_fact<F>(ended->facts, a...);
        } else {
            return refuse_ended_connection(F, site, comm);
        }
    }

    template <Fn F> static constexpr bool is_a_fact() {
        return F == Fn::MPI_Comm_rank || F == Fn::MPI_Comm_size || F == Fn::MPI_Comm_remote_size ||
               F == Fn::MPI_Comm_test_inter;
    }

    template <Fn F> static int write_fact(const CommFacts &facts, int *answer) {
        *answer = F == Fn::MPI_Comm_rank          ? facts.rank
                  : F == Fn::MPI_Comm_size        ? facts.size
                  : F == Fn::MPI_Comm_remote_size ? facts.remote_size
                                                  : facts.inter;
        return MPI_SUCCESS;
    }
};

// Packs and unpacks. Any communicator will do, so MPI_COMM_SELF stands for an ended connection.
class CommPack {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *, A... a) {
        return call_mpi<F>(alive(a)...);
    }

private:
    static MPI_Comm alive(MPI_Comm comm) {
        return EndedConnections::has(comm) ? self_comm() : comm;
    }
    template <typename T> static T alive(T argument) { return argument; }
};

// Compares two communicators. Fails if one is an ended connection.
class CommCompare {
public:
    using Of = Arrivals;

    template <Fn F, typename... A>
    static int call(const void *site, MPI_Comm one, MPI_Comm other, A... a) {
        for (const MPI_Comm comm : {one, other}) {
            if (EndedConnections::has(comm)) {
                return CommQuery::refuse_ended_connection(F, site, comm);
            }
        }
        return call_mpi<F>(one, other, a...);
    }
};

// MPI_Comm_c2f, MPI_Comm_f2c, also for ended connections. MPI may have given their handles to other
// communicators since.
class CommFortranHandle {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(handle);
        }
        if constexpr (gives_fortran_handle<F>) {
            const std::optional<EndedConnection> connection = EndedConnections::find_freed(handle);
            return connection ? connection->in_fortran : call_mpi<F>(handle);
        } else {
            const auto connection = EndedConnections::find_freed_in_fortran(handle);
            return connection ? connection->handle : call_mpi<F>(handle);
        }
    }
};

} // namespace cd::logger
