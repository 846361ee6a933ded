// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/real.h"
#include "objects/lifetimes.h"

#include <memory>

namespace cd::logger {

// A reference that MPI has given to an error handler, until the last copy of this is gone. Null if
// it has given none.
using HeldHandler = std::shared_ptr<const MPI_Errhandler>;

inline HeldHandler held(MPI_Errhandler handler) {
    if (handler == MPI_ERRHANDLER_NULL) {
        return nullptr;
    }
    return {new MPI_Errhandler(handler), [](MPI_Errhandler *last) {
                real<Fn::MPI_Errhandler_free>(last);
                delete last;
            }};
}

// The error handler of an object that MPI is about to free: a replay may raise errors by it until
// no restore can go back to before place.
template <Fn Get, typename Object>
MPI_Errhandler held_handler(Object object, const cd_log_place &place) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    real<Get>(object, &handler);
    when_forgotten(place, [held = held(handler)] {});
    return handler;
}

} // namespace cd::logger
