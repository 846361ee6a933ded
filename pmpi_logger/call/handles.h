// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Whether the handle may name an object. If not, MPI need not be asked about it: it would raise an
// error each time, and the program makes one of its own. MPICH's handles tell of what kind they
// are, as the null ones do.
template <typename Handle> bool may_name(Handle handle, Handle null) {
#ifdef OPEN_MPI // has addresses
    return handle != null;
#else
    constexpr int kind = 0xF << 26;
    return handle != null && ((handle ^ null) & kind) == 0;
#endif
}

} // namespace cd::logger
