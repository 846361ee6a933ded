// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/real.h"

#include <array>
#include <string_view>

namespace cd::logger {

// MPI's own Fortran routines. They are in a library that only Fortran programs load, so they are
// looked up at run time.

// Finds the routine that a caller at `site` would get. Returns nullptr if there is no Fortran.
void *find_fortran(const char *name, const void *site);

// Returns whether the call comes from MPI's own Fortran library. Cached for each thread.
bool is_from_fortran(const void *site);

// The Fortran name of the profiling form of F.
template <Fn F>
inline constexpr auto fortran_name = [] {
    constexpr std::string_view c_name = Declaration<F>::pmpi_name;
    std::array<char, c_name.size() + 2> name = {};
    for (size_t i = 0; i < c_name.size(); ++i) {
        name[i] = c_name[i] >= 'A' && c_name[i] <= 'Z' ? static_cast<char>(c_name[i] - 'A' + 'a')
                                                       : c_name[i];
    }
    name[c_name.size()] = '_';
    return name;
}();

// The routine for F with arguments A and an error code at the end.
template <Fn F, typename... A> class FortranRoutine {
public:
    explicit FortranRoutine(const void *site) : routine_(found_.load(std::memory_order_relaxed)) {
        if (routine_ == nullptr) {
            routine_ = reinterpret_cast<Routine>(find_fortran(fortran_name<F>.data(), site));
            found_.store(routine_, std::memory_order_relaxed);
        }
    }

    bool is_there() const { return routine_ != nullptr; }

    int operator()(A... a) const {
        MPI_Fint error = MPI_ERR_INTERN;
        routine_(a..., &error);
        return error;
    }

private:
    using Routine = void (*)(A..., MPI_Fint *);

    static inline constinit std::atomic<Routine> found_ = nullptr;
    Routine routine_;
};

template <Fn F, typename... A> auto fortran_routine(const void *site, A *...) {
    return FortranRoutine<F, A *...>(site);
}

// Calls the routine. Returns the error code.
template <Fn F, typename... A> int fortran(const void *site, A *...a) {
    const auto routine = fortran_routine<F>(site, a...);
    return routine.is_there() ? routine(a...) : MPI_ERR_INTERN;
}

} // namespace cd::logger
