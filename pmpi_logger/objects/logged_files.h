// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/owners.h"

#include <mpi.h>
#include <optional>

namespace cd::logger {

struct LoggedFile : Owner {
    MPI_File handle = MPI_FILE_NULL;
};

// Files that were opened or closed while a log records. MPI closes them when the program does, and
// a replay uses their handles, also those of Fortran, without MPI.
class LoggedFiles : public Owners<LoggedFile> {
public:
    static std::optional<LoggedFile> find_open(MPI_File file) {
        const std::optional<LoggedFile> known = find(file);
        return known && !known->freed ? known : std::nullopt;
    }
    // Finds a file that the program uses in a replay although MPI has closed it.
    static std::optional<LoggedFile> find_closed(MPI_File file) { return closed(find(file)); }
    static std::optional<LoggedFile> find_closed_number(MPI_Fint number) {
        return closed(find_number(number));
    }

private:
    static std::optional<LoggedFile> closed(const std::optional<LoggedFile> &file) {
        return file && file->freed ? file : std::nullopt;
    }
};

} // namespace cd::logger
