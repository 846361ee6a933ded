// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/pmpi_table.h"

#include "os/system.h"

#include <dlfcn.h>

#include <atomic>
#include <type_traits>

namespace cd::mpi {
namespace {

// Opens MPI's library past interposers of its functions. They do not take this one over.
void *find_library() {
    Dl_info mpi = {};
    const void *const version = dlsym(RTLD_NEXT, "PMPI_Get_library_version");
    void *library = nullptr;
    if (version != nullptr && dladdr(version, &mpi) != 0) {
        library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    return library != nullptr ? library : RTLD_NEXT;
}

Mpi look_up() {
    void *library = find_library();
    Mpi mpi;
    const auto find = [library](auto &function, const char *name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(mpi.cancel, "PMPI_Cancel");
    find(mpi.comm_create_keyval, "PMPI_Comm_create_keyval");
    find(mpi.comm_free, "PMPI_Comm_free");
    find(mpi.comm_rank, "PMPI_Comm_rank");
    find(mpi.comm_set_attr, "PMPI_Comm_set_attr");
    find(mpi.comm_set_errhandler, "PMPI_Comm_set_errhandler");
    find(mpi.comm_size, "PMPI_Comm_size");
    find(mpi.comm_split, "PMPI_Comm_split");
    find(mpi.error_string, "PMPI_Error_string");
    find(mpi.finalized, "PMPI_Finalized");
    find(mpi.get_processor_name, "PMPI_Get_processor_name");
    find(mpi.iallgather, "PMPI_Iallgather");
    find(mpi.iallgatherv, "PMPI_Iallgatherv");
    find(mpi.initialized, "PMPI_Initialized");
    find(mpi.iprobe, "PMPI_Iprobe");
    find(mpi.irecv, "PMPI_Irecv");
    find(mpi.isend, "PMPI_Isend");
    find(mpi.query_thread, "PMPI_Query_thread");
    find(mpi.request_free, "PMPI_Request_free");
    find(mpi.testall, "PMPI_Testall");
    return mpi;
}

constinit std::atomic<bool> had_begun = false; // when this process was last forked
constinit std::atomic<bool> is_of_a_parent = false;

bool has_begun() {
    int initialized = 0;
    return own().initialized(&initialized) == MPI_SUCCESS && initialized != 0;
}

} // namespace

bool notice_forks() {
    return os::system().at_fork([] { had_begun = has_begun(); }, nullptr,
                                [] { is_of_a_parent = is_of_a_parent || had_begun; }) == 0;
}

const Mpi &own() {
    static const Mpi mpi = look_up();
    return mpi;
}

bool is_usable() {
    int finalized = 0;
    return !is_of_a_parent && has_begun() && own().finalized(&finalized) == MPI_SUCCESS &&
           finalized == 0;
}

Status outcome(int code, const char *what) {
    if (code == MPI_SUCCESS) {
        return Status::ok();
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    own().error_string(code, text, &length);
    return fail(CD_ERROR_STORE_IO, "MPI cannot %s: %s", what, text);
}

} // namespace cd::mpi
