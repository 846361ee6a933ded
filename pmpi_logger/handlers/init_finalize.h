// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "mpi/loaded_mpi.h"
#include "mpi/mpi_lifetime.h"
#include "objects/deferred_free.h"

namespace cd::logger {

// Makes a call that begins or ends a use of MPI, or answers it from the log. Does `then` once MPI
// has made it.
template <Fn F, typename Then, typename... A>
int call_and(const Then &then, const void *site, A... a) {
    if (ReentryGuard::mpi()) {
        return call_mpi<F>(a...);
    }
    const auto make = [&](A... b) {
        const ReentryGuard inside;
        const int result = call_mpi<F>(b...);
        if (result == MPI_SUCCESS) {
            then();
        }
        return result;
    };
    return Blocking::call_by<F>(make, site, a...);
}

// MPI_Init and MPI_Init_thread. From now on CDs are named with the rank in MPI_COMM_WORLD. MPI
// stays up when an older CD is restored.
class Initialize : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        require_own_flavour(site);
        return call_and<F>(initialized, site, a...);
    }

private:
    static void initialized();
};

// The end of MPI, by MPI_Finalize or the last session. Runs delayed frees. It cannot be taken back.
class Finalize : public MovesData {
public:
    // Returns whether a restore of `cd` would have to end MPI again.
    static bool is_to_be_repeated(cd_handle cd);
    static void finalizing();

    template <Fn F> static int call(const void *) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>();
        }
        finalizing();
        const ReentryGuard inside;
        return call_mpi<F>();
    }
};

#ifdef CD_HAS_MPI_Session_init
// MPI_Session_init: may stand for MPI_Init.
class SessionInit : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
        require_own_flavour(site);
        return call_and<F>([session] { opened(*session); }, site, info, handler, session);
    }

private:
    static void opened(MPI_Session session);
};

// MPI_Session_finalize: may stand for MPI_Finalize.
class SessionFinalize : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Session *session) {
        if (ReentryGuard::mpi() || session == nullptr) {
            return call_mpi<F>(session);
        }
        if (Logging::mode() != CD_LOG_REPLAYING && MpiLifetime::is_last_session()) {
            Finalize::finalizing();
        }
        return call_and<F>(
            [handle = word_of(*session)] {
                forget_object(handle);
                MpiLifetime::session_ends();
            },
            site, session);
    }
};
#endif

// MPI_Abort: writes recorded entries to their file before, unless a writer was interrupted.
class Abort {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *, MPI_Comm comm, int code) {
        RecordAll::flush(false);
        return call_mpi<F>(comm, code);
    }
};

// MPI_Wtime: a re-execution gets the logged times. It may read the clock less or more often.
class ClockRead : public MovesData {
public:
    template <Fn F> static double call(const void *site) {
        const int mode = Logging::mode();
        return passes_through(mode) ? call_mpi<F>() : read(site, mode);
    }

private:
    static double read(const void *site, int mode);
};

} // namespace cd::logger
