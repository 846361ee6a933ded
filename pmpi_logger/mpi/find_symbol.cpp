// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/find_symbol.h"

#include <dlfcn.h>

namespace cd::logger {

void *find_symbol(const void *address, const char *name) {
    Dl_info object = {};
    void *const library =
        dladdr(address, &object) != 0 ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (library == nullptr) {
        return nullptr;
    }
    void *const found = dlsym(library, name);
    dlclose(library); // it stays loaded
    return found;
}

} // namespace cd::logger
