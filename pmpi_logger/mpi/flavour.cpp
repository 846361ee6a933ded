// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/flavour.h"

#include "mpi/find_symbol.h"

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace cd::logger {
namespace {

constexpr std::string_view own_flavour = CD_MPI_FLAVOUR;

std::string_view flavour_of(void *library_version, const char *file) {
    if (std::string_view(file).find("libmpi_abi") != std::string_view::npos) {
        return "abi";
    }
    // MPIs that are compatible with MPICH have other names than that.
    std::array<char, 8192> text = {}; // the longest MPI_MAX_LIBRARY_VERSION_STRING
    int length = 0;
    reinterpret_cast<int (*)(char *, int *)>(library_version)(text.data(), &length);
    return std::string_view(text.data()).starts_with("Open MPI") ? "openmpi" : "mpich";
}

} // namespace

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
                     "pmpi_logger: this is the logger for %s, but the program uses %s (%s): use "
                     "lib/cd/%s/libpmpi_logger.so\n",
                     own_flavour.data(), flavour.data(), mpi.dli_fname, flavour.data());
        std::fflush(nullptr);
        _exit(1); // nothing of either MPI runs
    }
}

} // namespace cd::logger
