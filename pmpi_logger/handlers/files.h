// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/held_handler.h"
#include "objects/inner_frees.h"
#include "objects/lifetimes.h"
#include "objects/logged_files.h"
#include "record_all/record_all.h"

#include <optional>
#include <tuple>

namespace cd::logger {

class OpensFile {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const bool logs = !passes_through(Logging::mode());
        const int result = Blocking::log<F>(site, a...);
        if (logs && result == MPI_SUCCESS && !RecordAll::records()) {
            opened(*std::get<sizeof...(A) - 1>(std::tuple<A...>(a...)));
        }
        return result;
    }

private:
    static void opened(MPI_File file);
};

// MPI_File_c2f, MPI_File_f2c: MPI has forgotten those that are closed.
class NumbersFile {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if constexpr (F == Fn::MPI_File_c2f) {
            const std::optional<LoggedFile> closed = LoggedFiles::find_closed(handle);
            return closed ? closed->in_fortran : call_mpi<F>(handle);
        } else {
            const std::optional<LoggedFile> closed = LoggedFiles::find_closed_number(handle);
            return closed ? closed->handle : call_mpi<F>(handle);
        }
    }
};

// MPI_File_close: made at once, since the others wait for it and the file is to be seen.
class ClosesFile {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_File *file) {
        if (file == nullptr) {
            return call_mpi<F>(file); // which is an error
        }
        if (InnerCalls::are_of_undo()) {
            *file = MPI_FILE_NULL;
            return MPI_SUCCESS;
        }
        if (passes_through(Logging::mode())) {
            return close<F>(file, LoggedFiles::find_open(*file));
        }
        if (RecordAll::records()) {
            return Blocking::log<F>(site, file);
        }
        LoggedFile known = known_as(*file);
        const int result = Blocking::call_by<F>(
            [&](MPI_File *open) {
                about_to_be_closed(known);
                return close<F>(open, known);
            },
            site, file);
        if (known.handle != MPI_FILE_NULL && *file == MPI_FILE_NULL) {
            closed(known);
        }
        return result;
    }

private:
    static LoggedFile known_as(MPI_File file);
    static void about_to_be_closed(LoggedFile &file);
    static void closed(LoggedFile &file);

    // known is forgotten before another thread can be given the handle.
    template <Fn F> static int close(MPI_File *file, const std::optional<LoggedFile> &known) {
        if (known) {
            LoggedFiles::remove(known->number);
        }
        const int result = free_object(
            file, [&] { return call_mpi<F>(file); }, known ? known->number : 0);
        if (known && *file != MPI_FILE_NULL) { // MPI has refused
            LoggedFiles::add(*known);
        }
        return result;
    }
};

// MPI_File_call_errhandler: a replay calls it, too.
class CallsFileHandler {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *, MPI_File file, int error) {
        if (!LoggedFiles::find_closed(file)) {
            return call_mpi<F>(file, error);
        }
        raise_at(file, error, CalledBy::program);
        return MPI_SUCCESS;
    }
};

} // namespace cd::logger
