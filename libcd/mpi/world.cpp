// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/world.h"

#include "config/storage_info.h"
#include "os/system.h"

#include <chrono>
#include <span>

namespace cd::mpi {
namespace {

using std::chrono::steady_clock;

// MPICH over UCX complains of operations under way at its end. Open MPI completes them in
// MPI_Finalize, and no rank has to wait here.
#ifdef OPEN_MPI
constexpr bool complains_at_the_end = false;
#else
constexpr bool complains_at_the_end = true;
#endif

// For ranks that have not met: one of them may be without this library.
constexpr std::chrono::seconds patience_with_unknown_ranks{30};
constexpr std::chrono::milliseconds patience_where_nobody_complains{100};

// Lives as long as the process: ranks that end without MPI_Finalize do not meet to free it.
struct World {
    std::mutex mutex;
    MpiExchange *exchange = nullptr;
    Communicator::Tally tally; // 1 + a rank that has come to MPI_Finalize; 0: none
    bool failed = false;
    bool left = false;
};

constinit World world;

// Before ranks have met there is only the program's communicator. The program cannot receive a
// collective operation.
MPI_Comm comm() {
    return world.exchange != nullptr ? world.exchange->communicator().get() : MPI_COMM_WORLD;
}

int begin_to_count(MPI_Request &request) {
    return own().iallreduce(&world.tally.own, &world.tally.largest, 1, MPI_INT, MPI_MAX, comm(),
                            &request);
}

Status count() {
    constexpr char what[] = "find out whether all create a root";
    if (world.exchange != nullptr) {
        return together(comm(), begin_to_count, what);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    Status status = outcome(begin_to_count(request), what);
    return status ? wait_until(steady_clock::time_point::max(), request, what) : status;
}

Status check_that_all_come() {
    if (world.failed) {
        return fail(CD_ERROR_STORE_IO, "an earlier exchange between the ranks failed half-way");
    }
    if (world.tally.largest == 0) {
        Status status = count();
        world.failed = !status;
        if (!status) {
            return status;
        }
    }
    return world.tally.largest == 0
               ? Status::ok()
               : fail(CD_ERROR_ARGUMENT,
                      "rank %d has come to MPI_Finalize, and creates no root any more: those with "
                      "redundancy are created by all ranks of MPI_COMM_WORLD together, before any "
                      "of them ends MPI",
                      world.tally.largest - 1);
}

Status open_world() {
    if (world.exchange != nullptr) {
        return Status::ok();
    }
    int rank = 0;
    if (Status status = outcome(own().comm_rank(MPI_COMM_WORLD, &rank), "tell this rank");
        !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status status = MpiExchange::make(MPI_COMM_WORLD, 0, rank, made);
    world.exchange = made.release();
    return status;
}

// Whether all ranks are likely to have this library. Waiting for others would be in vain.
bool all_have_the_library() {
    const char *defaults = os::system().environment("CD_STORAGE_INFO");
    return world.exchange != nullptr ||
           asks_for_protection(defaults != nullptr ? defaults : "", "");
}

void wait_for_others(MPI_Request &request) {
    constexpr char what[] = "tell others of the end";
    if (!complains_at_the_end) {
        (void)wait_until(steady_clock::now() + patience_where_nobody_complains, request, what);
    } else if (world.exchange != nullptr) {
        (void)wait_for(comm(), std::span(&request, 1), what);
    } else {
        (void)wait_until(steady_clock::now() + patience_with_unknown_ranks, request, what);
    }
}

// Starts to tell the other ranks, calls meanwhile(), and waits for them. Ignores failures of MPI,
// for which the program's error handler may end it.
void tell_others(void (*meanwhile)()) {
    int rank = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (own().comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        own().comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS) {
        return meanwhile();
    }
    own().comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    world.tally.own = rank + 1;
    MPI_Request request = MPI_REQUEST_NULL;
    const bool started = begin_to_count(request) == MPI_SUCCESS;
    meanwhile();
    if (started) {
        wait_for_others(request);
    }
    own().comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (handler != MPI_ERRHANDLER_NULL) {
        own().errhandler_free(&handler);
    }
}

} // namespace

Status assemble(Assembly &assembly) {
    std::unique_lock alone(world.mutex);
    if (Status status = check_that_all_come(); !status) {
        return status;
    }
    if (Status status = open_world(); !status) {
        return status;
    }
    assembly.all = world.exchange;
    assembly.alone = std::move(alone);
    return Status::ok();
}

void leave_world(void (*meanwhile)()) noexcept {
    const SavedMessage keeper;
    const std::unique_lock alone(world.mutex, std::try_to_lock); // another thread may wait there
    const bool leaves = alone.owns_lock() && !world.left && is_usable();
    if (leaves) {
        world.left = true;
    }
    if (leaves && !world.failed && world.tally.largest == 0 &&
        (!complains_at_the_end || all_have_the_library())) {
        tell_others(meanwhile);
    } else {
        meanwhile();
    }
}

} // namespace cd::mpi
