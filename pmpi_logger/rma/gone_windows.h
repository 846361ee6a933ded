// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/owners.h"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace cd::logger {

// A window that MPI no longer has when a replay uses it.
struct GoneWindow : Owner {
    MPI_Win handle = MPI_WIN_NULL;
    uint64_t window = 0;   // its number
    bool is_other = false; // it is none, and has got the handle of one
};

class GoneWindows : public Owners<GoneWindow> {
public:
    // Returns the one that the thread means.
    static std::optional<GoneWindow> find(MPI_Win handle) { return gone(Owners::find(handle)); }
    static std::optional<GoneWindow> find_number(MPI_Fint in_fortran) {
        return gone(Owners::find_number(in_fortran));
    }

    // Removes another window that has the handle of a freed one. Must be called before MPI frees
    // it, since another thread may get the handle then.
    static std::optional<GoneWindow> take_other(MPI_Win handle) {
        const std::optional<GoneWindow> meant = Owners::find(handle);
        if (!meant || !meant->is_other) {
            return std::nullopt;
        }
        remove(meant->number);
        return meant;
    }

private:
    static std::optional<GoneWindow> gone(const std::optional<GoneWindow> &meant) {
        return meant && !meant->is_other ? meant : std::nullopt;
    }
};

} // namespace cd::logger
