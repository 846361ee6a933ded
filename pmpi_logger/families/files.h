// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/exchange.h"
#include "families/held_handler.h"
#include "lifetimes/closed_files.h"
#include "lifetimes/lifetimes.h"
#include "whole_program/whole_program.h"

#include <tuple>

namespace cd::logger {

class OpensFile {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int result = Exchange::call<F>(site, a...);
        if (result == MPI_SUCCESS && Logging::mode() != CD_LOG_OFF) {
            ClosedFiles::opened_again(*std::get<sizeof...(A) - 1>(std::tuple<A...>(a...)));
        }
        return result;
    }
};

// MPI_File_c2f, MPI_File_f2c: MPI has forgotten those that are closed.
class NumbersFile {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if constexpr (F == Fn::MPI_File_c2f) {
            return ClosedFiles::has(handle) ? ClosedFiles::number_of(handle) : real<F>(handle);
        } else {
            const MPI_File closed = ClosedFiles::find(handle);
            return closed != MPI_FILE_NULL ? closed : real<F>(handle);
        }
    }
};

// MPI_File_close: made at once, since the others wait for it and the file is to be seen.
class ClosesFile {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_File *file) {
        if (file == nullptr) {
            return real<F>(file); // which is an error
        }
        if (passes_through(Logging::mode())) {
            return free_object(file, [&] { return real<F>(file); });
        }
        if (WholeProgram::records()) {
            return Exchange::call<F>(site, file);
        }
        const MPI_File closed = *file;
        const MPI_Fint number = NumbersFile::call<Fn::MPI_File_c2f>(site, closed);
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        if (ClosedFiles::has(closed)) {
            handler = ClosedFiles::handler_of(closed);
        }
        const int result = Exchange::call_by<F>(
            [&](MPI_File *open) {
                cd_log_place place = {};
                if (cd_log_here(&place) != 0) {
                    handler = held_handler<Fn::MPI_File_get_errhandler>(closed, place);
                }
                return free_object(open, [&] { return real<F>(open); });
            },
            site, file);
        cd_log_place place = {};
        if (closed != MPI_FILE_NULL && *file == MPI_FILE_NULL && cd_log_here(&place) != 0 &&
            place.entry > 0) {
            ClosedFiles::closed_again(closed);
            --place.entry;
            ClosedFiles::closed(closed, number, handler, place);
        }
        return result;
    }
};

// MPI_File_call_errhandler: a replay calls it, too.
class CallsFileHandler {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *, MPI_File file, int error) {
        if (!ClosedFiles::has(file)) {
            return real<F>(file, error);
        }
        raise_at(file, error);
        return MPI_SUCCESS;
    }
};

} // namespace cd::logger
