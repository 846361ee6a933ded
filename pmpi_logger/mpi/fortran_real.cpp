// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/fortran_real.h"

#include "mpi/thread_data.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <mpi.h>

namespace cd::logger {

namespace {

// MPI's Fortran library, if the program has loaded it.
#ifdef OPEN_MPI
constexpr char fortran_of_mpi[] = "libmpi_mpifh.so.40";
#else
constexpr char fortran_of_mpi[] = "libmpichfort.so.12";
#endif

const void *base_of(const void *address) {
    Dl_info found = {};
    return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

// Finds the name outside this library, which a library linked with it would find first.
void *find_in(const char *file, const char *name) {
    void *const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) {
        return nullptr;
    }
    void *const found = dlsym(library, name);
    dlclose(library); // it stays loaded
    static const char here = 0;
    return found != nullptr && base_of(found) != base_of(&here) ? found : nullptr;
}

} // namespace

void *find_fortran(const char *name, const void *site) {
    if (void *found = dlsym(RTLD_NEXT, name)) {
        return found;
    }
    // The program may have loaded its Fortran privately.
    Dl_info caller = {};
    void *found = dladdr(site, &caller) != 0 ? find_in(caller.dli_fname, name) : nullptr;
    return found != nullptr ? found : find_in(fortran_of_mpi, name);
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
        Dl_info caller = {};
        known.is_fortran[at] = dladdr(site, &caller) != 0 && caller.dli_fname != nullptr &&
                               std::strstr(caller.dli_fname, fortran_of_mpi) != nullptr;
        known.site[at] = site;
    }
    return known.is_fortran[at];
}

} // namespace cd::logger
