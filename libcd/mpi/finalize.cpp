// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// MPI_Finalize by both of its names, since the logger takes over one and calls the other. With
// MPICH 4.0 a thread that is in MPI when MPI_Finalize begins keeps its lock, and the program hangs,
// so that helper threads end before.

#include "mpi/finalize.h"

#include "mpi/pmpi_table.h"

#include <dlfcn.h>

#include <mutex>

namespace cd::mpi {
namespace {

struct Registered {
    std::mutex mutex;
    bool hooked = false; // guarded by the mutex
    checkpoint::Checkpointers checkpointers;
};

Registered &registered() {
    static auto *const all = new Registered; // MPI_Finalize may be called when statics are gone
    return *all;
}

int before_the_end(MPI_Comm, int, void *, void *) {
    const SavedMessage keeper;
    registered().checkpointers.leave();
    return MPI_SUCCESS;
}

// MPI_Finalize begins with freeing MPI_COMM_SELF, with what is attached to it, also where a program
// does not call ours.
Status hook() {
    int key = MPI_KEYVAL_INVALID;
    if (Status status =
            outcome(own().comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_the_end, &key, nullptr),
                    "make an attribute");
        !status) {
        return status;
    }
    return outcome(own().comm_set_attr(MPI_COMM_SELF, key, nullptr), "set an attribute");
}

int finalize(const char *name) {
    before_the_end(MPI_COMM_NULL, MPI_KEYVAL_INVALID, nullptr, nullptr);
    const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, name));
    return next();
}

} // namespace

Status register_checkpointer(checkpoint::Checkpointer &checkpointer) {
    Registered &all = registered();
    const std::lock_guard lock(all.mutex);
    if (!all.hooked) {
        if (Status status = hook(); !status) {
            return status;
        }
        all.hooked = true;
    }
    all.checkpointers.add(checkpointer);
    return Status::ok();
}

void unregister_checkpointer(checkpoint::Checkpointer &checkpointer) {
    registered().checkpointers.remove(checkpointer);
}

} // namespace cd::mpi

extern "C" {

__attribute__((visibility("default"))) int MPI_Finalize() {
    return cd::mpi::finalize("MPI_Finalize");
}
__attribute__((visibility("default"))) int PMPI_Finalize() {
    return cd::mpi::finalize("PMPI_Finalize");
}
}
