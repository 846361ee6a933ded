// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/finalizing.h"

#include "checkpoint/protections.h"
#include "mpi/pmpi_table.h"
#include "mpi/world.h"

#include <mutex>

namespace cd::mpi {
namespace {

struct Remembered {
    std::mutex mutex;
    bool hooked = false; // guarded by the mutex
    checkpoint::Protections protections;
};

Remembered &remembered() {
    static auto *const all = new Remembered; // MPI_Finalize may be called when statics are gone
    return *all;
}

int before_the_end(MPI_Comm, int, void *, void *) {
    checkpoint::Protections &protections = remembered().protections;
    protections.begin_to_leave();
    leave_world();
    protections.leave();
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

} // namespace

Status remember(checkpoint::Protection &protection) {
    Remembered &all = remembered();
    const std::lock_guard lock(all.mutex);
    if (!all.hooked) {
        if (Status status = hook(); !status) {
            return status;
        }
        all.hooked = true;
    }
    all.protections.add(protection);
    return Status::ok();
}

void forget(checkpoint::Protection &protection) { remembered().protections.remove(protection); }

void get_ready_to_end() noexcept {
    before_the_end(MPI_COMM_NULL, MPI_KEYVAL_INVALID, nullptr, nullptr);
}

} // namespace cd::mpi
