// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/spawned.h"
#include "mpi/mpi_lifetime.h"
#include "objects/deferred_free.h"

namespace cd::logger {

// MPI_Init and MPI_Init_thread. From now on CDs are named with the rank in MPI_COMM_WORLD. MPI
// stays up when an older CD is restored.
class Initialize : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(a...);
        }
        const auto make = [](A... b) {
            const ReentryGuard inside;
            const int result = call_mpi<F>(b...);
            if (result == MPI_SUCCESS) {
                initialized();
            }
            return result;
        };
        return Blocking::call_by<F>(make, site, a...);
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

#if MPI_VERSION >= 4
// MPI_Session_init: may stand for MPI_Init.
class SessionInit : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(info, handler, session);
        }
        const auto make = [](MPI_Info i, MPI_Errhandler h, MPI_Session *s) {
            const ReentryGuard inside;
            const int result = call_mpi<F>(i, h, s);
            if (result == MPI_SUCCESS) {
                opened(*s);
            }
            return result;
        };
        return Blocking::call_by<F>(make, site, info, handler, session);
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
        if (Logging::mode() != CD_LOG_REPLAYING && MpiLife::is_last_session()) {
            Finalize::finalizing();
        }
        const auto make = [](MPI_Session *s) {
            const ReentryGuard inside;
            const int result = free_object(s, [s] { return call_mpi<F>(s); });
            if (result == MPI_SUCCESS) {
                MpiLife::session_ends();
            }
            return result;
        };
        return Blocking::call_by<F>(make, site, session);
    }
};
#endif

// MPI_Abort: writes recorded entries to their file before, unless a writer was interrupted.
class Abort {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *, MPI_Comm comm, int code) {
        RecordAll::flush_if_possible();
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

// MPI_Comm_spawn_multiple: has an error code for each process of all commands.
class SpawnMultiple : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, int count, char **commands, char ***arguments,
                    const int *processes, const MPI_Info *infos, int root, MPI_Comm comm,
                    MPI_Comm *made, int *errors) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(count, commands, arguments, processes, infos, root, comm, made,
                               errors);
        }
        Call call(F, site);
        call.arrival = &Row<F>::of;
        call.add_word(word_of(comm));
        call.add_output({made, sizeof *made});
        add_errors(call, count, processes, root, comm, errors);
        if (mode == CD_LOG_REPLAYING) {
            const int result = Blocking::replay(call, false);
            if (result != run_live) {
                return told_of(result, *made);
            }
        }
        const ReentryGuard inside;
        const int result =
            call_mpi<F>(count, commands, arguments, processes, infos, root, comm, made, errors);
        Blocking::record(call, result, nullptr, false);
        return told_of(result, *made);
    }

private:
    static int told_of(int result, MPI_Comm made) {
        if (result == MPI_SUCCESS) {
            connection_made(made);
        }
        return result;
    }
    static void add_errors(Call &call, int count, const int *processes, int root, MPI_Comm comm,
                           int *errors);
};

} // namespace cd::logger
