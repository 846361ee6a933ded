// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The Fortran routines that are taken over themselves: fortran.def says which, and why.

#include "intercept/dispatch.h"
#include "intercept/fortran_arguments.h"
#include "intercept/out_of_memory.h"

namespace cd::logger {

// Fortran's error code is the last argument, which mpi_f08 may leave out.
template <Fn F, typename Arguments, typename Family,
          typename Type = decltype(Arguments::template call<F, Family>)>
struct Routine;

template <Fn F, typename Arguments, typename Family, typename... A>
struct Routine<F, Arguments, Family, int(const void *, A...)> {
    static void call(A... a, MPI_Fint *error) {
        const void *const site = __builtin_return_address(0);
        const int result = OutOfMemory::guarded<F, !std::is_same_v<Family, Blocking>>(
            [&] { return Arguments::template call<F, Family>(site, a...); },
            [&] { return fortran<F>(site, a...); });
        if (error != nullptr) {
            *error = result;
        }
    }
};

} // namespace cd::logger

#define CD_ROUTINE(name, arguments, family, arrives, ...)                                          \
    CD_ROW(name, family, arrives, __VA_ARGS__)                                                     \
    namespace cd::logger {                                                                         \
    using Routine_##name = Routine<Fn::name, arguments, family>;                                   \
    }
#define CD_ROUTINE_NAME(name, called)                                                              \
    namespace cd::logger {                                                                         \
    [[gnu::used]] static void export_##called() { CD_EXPORT(called, &Routine_##name::call); }      \
    }
#include "fortran.inc"
