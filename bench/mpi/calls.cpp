// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/calls.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void give_up(const char *why) {
    std::fprintf(stderr, "cd_bench: %s\n", why);
    std::exit(1);
}

int remember_mpi(dl_phdr_info *object, size_t, void *library) {
    const char *name = std::strrchr(object->dlpi_name, '/');
    if (name != nullptr && (std::strncmp(name, "/libmpi.so", std::strlen("/libmpi.so")) == 0 ||
                            std::strncmp(name, "/libmpich.so", std::strlen("/libmpich.so")) == 0)) {
        *static_cast<void **>(library) = dlopen(object->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
        return 1;
    }
    return 0;
}

void *mpi_library() {
    void *library = nullptr;
    dl_iterate_phdr(remember_mpi, &library);
    if (library == nullptr) {
        give_up("MPI's library is not loaded");
    }
    return library;
}

template <typename Function> void find(Function &function, const char *name) {
    static void *const library = mpi_library();
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        give_up(name);
    }
}

decltype(&MPI_Recv) receive_only;
double copying = 0; // seconds
int copies = 0;

int receive_and_copy(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                     MPI_Status *status) {
    static std::vector<char> kept;
    const int result = receive_only(buffer, count, type, source, tag, comm, status);
    int size = 0;
    PMPI_Type_size(type, &size);
    kept.resize(static_cast<size_t>(count) * static_cast<size_t>(size));
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(kept.data(), buffer, kept.size());
    asm volatile("" : : "r"(kept.data()) : "memory");
    copying += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++copies;
    return result;
}

Calls jumped_to;

template <auto function> struct Empty;
template <typename R, typename... A, R (*Calls::*function)(A...)> struct Empty<function> {
    static R call(A... a) { return (jumped_to.*function)(a...); }
};

} // namespace

Calls through_logger() {
    return {&MPI_Comm_rank, &MPI_Send,    &MPI_Recv,      &MPI_Isend,
            &MPI_Irecv,     &MPI_Waitall, &MPI_Allreduce, &MPI_Barrier};
}

Calls past_logger() {
    Calls calls = {};
    find(calls.comm_rank, "PMPI_Comm_rank");
    find(calls.send, "PMPI_Send");
    find(calls.recv, "PMPI_Recv");
    find(calls.isend, "PMPI_Isend");
    find(calls.irecv, "PMPI_Irecv");
    find(calls.waitall, "PMPI_Waitall");
    find(calls.allreduce, "PMPI_Allreduce");
    find(calls.barrier, "PMPI_Barrier");
    if (calls.send == through_logger().send) {
        give_up("the logger does not take MPI over");
    }
    return calls;
}

Calls past_empty_wrappers() {
    jumped_to = past_logger();
    return {&Empty<&Calls::comm_rank>::call, &Empty<&Calls::send>::call,
            &Empty<&Calls::recv>::call,      &Empty<&Calls::isend>::call,
            &Empty<&Calls::irecv>::call,     &Empty<&Calls::waitall>::call,
            &Empty<&Calls::allreduce>::call, &Empty<&Calls::barrier>::call};
}

double seconds_of_copy_of_what_came() {
    const double all = std::exchange(copying, 0);
    const int count = std::exchange(copies, 0);
    return count > 0 ? all / count : 0;
}

Calls past_logger_and_copied() {
    Calls calls = past_logger();
    receive_only = calls.recv;
    calls.recv = receive_and_copy;
    return calls;
}
