// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/function.h"

#include <atomic>
#include <dlfcn.h>
#include <mpi.h>
#include <string_view>
#include <utility>

namespace cd::logger {

// MPI's own functions, below the names that this library exports.

template <Fn F> struct Declaration;
#define CD_FUNCTION(name, handler, arrives, ...)                                                   \
    template <> struct Declaration<Fn::name> {                                                     \
        using Type = decltype(::name);                                                             \
        static constexpr char pmpi_name[] = "P" #name;                                             \
    };
#include "functions.inc"
#undef CD_FUNCTION

// True for MPI_Comm_c2f and its kin, which are macros in some MPIs and functions in others.
template <Fn F>
constexpr bool gives_fortran_handle = std::string_view(Declaration<F>::pmpi_name).ends_with("_c2f");

template <Fn F, typename Type = typename Declaration<F>::Type> class Real;

// Looks the function up at the first call, in any thread: MPI may be loaded later than this
// library, or never.
template <Fn F, typename R, typename... A> class Real<F, R(A...)> {
public:
    static R call(A... a) { return function_.load(std::memory_order_relaxed)(a...); }

private:
    using Function = R (*)(A...);

    static R look_up(A... a) {
        const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, Declaration<F>::pmpi_name));
        function_.store(found, std::memory_order_relaxed);
        return found(a...);
    }
    static inline constinit std::atomic<Function> function_ = &look_up;
};

// Calls MPI's own F, for the logger itself; call_mpi() does so for the program.
template <Fn F, typename... A> inline auto real(A &&...a) {
    return Real<F>::call(std::forward<A>(a)...);
}

} // namespace cd::logger
