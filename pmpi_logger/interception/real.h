// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/function.h"

#include <dlfcn.h>
#include <mpi.h>
#include <utility>

namespace cd::logger {

// MPI's own functions, below the names that this library takes over.

template <Fn F> struct Declaration;
#define CD_FUNCTION(name, family, arrives, ...)                                                    \
    template <> struct Declaration<Fn::name> {                                                     \
        using Type = decltype(::name);                                                             \
        static constexpr char pmpi_name[] = "P" #name;                                             \
    };
#include "functions.inc"
#undef CD_FUNCTION

template <Fn F, typename Type = typename Declaration<F>::Type> struct Real;

// Looked up at the first call: MPI may be loaded later than this library, or never.
template <Fn F, typename R, typename... A> struct Real<F, R(A...)> {
    static R look_up(A... a) {
        pointer = reinterpret_cast<R (*)(A...)>(dlsym(RTLD_NEXT, Declaration<F>::pmpi_name));
        return pointer(a...);
    }
    static inline R (*pointer)(A...) = &look_up;
};

template <Fn F, typename... A> inline auto real(A &&...a) {
    return Real<F>::pointer(std::forward<A>(a)...);
}

} // namespace cd::logger
