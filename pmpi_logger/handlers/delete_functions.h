// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "rma/window.h"

#include <mpi.h>

namespace cd::logger {

// What the program wants to be called when an attribute of a window goes, by key. MPI calls it, but
// not for a window that it has freed, of which a re-execution changes attributes.
struct DeleteFunction {
    void (*function)() = nullptr;
    void *state = nullptr; // as C gets it
    MPI_Aint number = 0;   // the same if MPI has given Fortran a copy of its own
    bool in_fortran = false;
};

class DeleteFunctions {
public:
    // The key counts until another one is the same.
    static void note(int key, const DeleteFunction &function);

    // As MPI does when the attribute is deleted, or another value replaces it.
    static void call(const Window &gone, int key, const SetAttribute &attribute);
};

} // namespace cd::logger
