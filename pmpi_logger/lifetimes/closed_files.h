// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <mpi.h>

namespace cd::logger {

// Files are closed when the program closes them, and a replay uses their handles without MPI, which
// gives them to later ones. What Fortran calls them is known here. Thread-safe.
class ClosedFiles {
public:
    // The program has closed it, which stands in a log at place: a restore goes back to when it had
    // it under this number, and with this error handler.
    static void closed(MPI_File file, MPI_Fint number, MPI_Errhandler handler,
                       const cd_log_place &place);

    // Whether the program has it although MPI does not.
    static bool has(MPI_File file);
    static MPI_Fint number_of(MPI_File file);
    static MPI_Errhandler handler_of(MPI_File file);
    static void set_handler(MPI_File file, MPI_Errhandler handler);
    // MPI_FILE_NULL if there is none.
    static MPI_File find(MPI_Fint number);

    // A replay comes to where it is opened, and to where it is closed.
    static void opened_again(MPI_File file);
    static void closed_again(MPI_File file);
};

} // namespace cd::logger
