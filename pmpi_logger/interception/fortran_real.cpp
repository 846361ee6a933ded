// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "interception/fortran_real.h"

namespace cd::logger {

void *find_fortran(const char *name, const void *site) {
    if (void *found = dlsym(RTLD_NEXT, name)) {
        return found;
    }
    // A program may have loaded its Fortran where only that itself sees it.
    Dl_info caller = {};
    if (dladdr(site, &caller) == 0) {
        return nullptr;
    }
    void *const library = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) {
        return nullptr;
    }
    void *const found = dlsym(library, name);
    dlclose(library); // the caller is in there, and keeps it
    return found;
}

} // namespace cd::logger
