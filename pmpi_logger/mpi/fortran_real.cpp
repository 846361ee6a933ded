// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/fortran_real.h"

#include "mpi/loaded_mpi.h"
#include "mpi/thread_data.h"

#include <array>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

namespace {

const void *base_of(const void *address) {
    Dl_info found = {};
    return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

// A routine that only MPI's Fortran library has: the logger does not take it over.
constexpr char only_in_fortran[] = "pmpi_wtick_";

} // namespace

void *find_fortran(const char *name, const void *site) {
    if (void *found = dlsym(RTLD_NEXT, name)) {
        return found;
    }
    // The program may have loaded its Fortran privately, and `site` may find the logger before it.
    const void *const fortran = find_symbol(site, only_in_fortran);
    return fortran != nullptr ? find_symbol(fortran, name) : nullptr;
}

bool is_from_fortran(const void *site) {
    constexpr int bits = 6;
    struct Callers {
        std::array<const void *, size_t{1} << bits> site = {};
        std::array<bool, size_t{1} << bits> is_fortran = {};
    };
    Callers &known = of_this_thread<Callers>();
    const size_t at =
        reinterpret_cast<uint64_t>(site) * 0x9E3779B97F4A7C15U >> (64 - bits); // Fibonacci hashing
    if (known.site[at] != site) {
        const void *const fortran = find_symbol(site, only_in_fortran);
        known.is_fortran[at] = fortran != nullptr && base_of(fortran) == base_of(site);
        known.site[at] = site;
    }
    return known.is_fortran[at];
}

} // namespace cd::logger
