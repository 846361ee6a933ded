// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/loaded_mpi.h"

#include <cstdio>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace cd::logger {
namespace {

constexpr std::string_view own_flavour = CD_MPI_FLAVOUR;

// Returns the flavour of the MPI that defines `function` in `file`.
std::string_view flavour_of(const void *function, const char *file) {
    if (std::string_view(file).find("libmpi_abi") != std::string_view::npos) {
        return "abi";
    }
    return find_symbol(function, "ompi_mpi_comm_world") != nullptr ? "openmpi" : "mpich";
}

} // namespace

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

void require_own_flavour(const void *address) {
    constexpr char name[] = "PMPI_Get_library_version"; // which the logger does not export
    void *library_version = find_symbol(address, name);
    if (library_version == nullptr) {
        library_version = dlsym(RTLD_NEXT, name);
    }
    Dl_info mpi = {};
    if (library_version == nullptr || dladdr(library_version, &mpi) == 0) {
        return;
    }
    const std::string_view flavour = flavour_of(library_version, mpi.dli_fname);
    if (flavour != own_flavour) {
        std::fprintf(stderr,
                     "pmpi_logger: this is the logger for %s, but the program uses %s (%s): build "
                     "and use the logger for that MPI\n",
                     own_flavour.data(), flavour.data(), mpi.dli_fname);
        std::fflush(nullptr);
        _exit(1); // nothing of either MPI runs
    }
}

} // namespace cd::logger
