// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "interception/fortran_real.h"

#include <cstring>
#include <mpi.h>

namespace cd::logger {

namespace {

// Where MPI's Fortran is, if the program has loaded it.
#ifdef OPEN_MPI
constexpr char fortran_of_mpi[] = "libmpi_mpifh.so.40";
#else
constexpr char fortran_of_mpi[] = "libmpichfort.so.12";
#endif

const void *base_of(const void *address) {
    Dl_info found = {};
    return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

// Not what this library has: a library that is linked with it finds that first.
void *find_in(const char *file, const char *name) {
    void *const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) {
        return nullptr;
    }
    void *const found = dlsym(library, name);
    dlclose(library); // somebody else keeps it
    static const char here = 0;
    return found != nullptr && base_of(found) != base_of(&here) ? found : nullptr;
}

} // namespace

void *find_fortran(const char *name, const void *site) {
    if (void *found = dlsym(RTLD_NEXT, name)) {
        return found;
    }
    // A program may have loaded its Fortran where only that itself sees it.
    Dl_info caller = {};
    void *found = dladdr(site, &caller) != 0 ? find_in(caller.dli_fname, name) : nullptr;
    return found != nullptr ? found : find_in(fortran_of_mpi, name);
}

bool is_from_fortran(const void *site) {
    Dl_info caller = {};
    return dladdr(site, &caller) != 0 && caller.dli_fname != nullptr &&
           std::strstr(caller.dli_fname, fortran_of_mpi) != nullptr;
}

} // namespace cd::logger
