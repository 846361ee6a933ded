// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/communicator.h"

#include "mpi/waiting.h"

namespace cd::mpi {

Communicator::~Communicator() {
    if (comm_ != MPI_COMM_NULL && is_usable()) {
        own().comm_free(&comm_);
    }
}

Status Communicator::split(MPI_Comm whole, int color, int key, Communicator &part) {
    Communicator made;
    if (Status status =
            outcome(own().comm_split(whole, color, key, &made.comm_), "split a communicator");
        !status) {
        return status;
    }
    part = std::move(made);
    return outcome(own().comm_set_errhandler(part.comm_, MPI_ERRORS_RETURN),
                   "set an error handler");
}

Status Communicator::check_all(Status own_outcome, Tally &tally, Status &all) const {
    tally.own = own_outcome.code();
    // Of several failures any will do.
    const auto find_largest = [&](MPI_Request &request) {
        return own().iallreduce(&tally.own, &tally.largest, 1, MPI_INT, MPI_MAX, comm_, &request);
    };
    if (Status status = together(comm_, find_largest, "find out whether all can go on"); !status) {
        return status;
    }
    const int largest = tally.largest;
    all = largest == CD_ERROR_NONE || !own_outcome
              ? own_outcome
              : fail(static_cast<cd_error>(largest), "another rank: %s", describe(largest));
    return Status::ok();
}

int Communicator::size() const {
    int size = 0;
    own().comm_size(comm_, &size);
    return size;
}

int Communicator::rank() const {
    int rank = 0;
    own().comm_rank(comm_, &rank);
    return rank;
}

} // namespace cd::mpi
