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

// Files that were opened or closed while a log records. They are closed when the program closes
// them, and a replay uses their handles without MPI. What Fortran calls them is known here.
class LoggedFiles : public Owners<LoggedFile> {
public:
    static std::optional<LoggedFile> find_open(MPI_File file) {
        const std::optional<LoggedFile> known = find(file);
        return known && !known->freed ? known : std::nullopt;
    }
    // The program has it although MPI does not.
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
