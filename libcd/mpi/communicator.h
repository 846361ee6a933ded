// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/pmpi_table.h"

#include <utility>

namespace cd::mpi {

// A communicator of our own, whose errors come back to us. Ends it at its end, which all of its
// ranks come to, unless MPI has ended.
class Communicator {
public:
    Communicator() = default;
    Communicator(Communicator &&other) noexcept
        : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
    Communicator &operator=(Communicator &&other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~Communicator();

    // It never ends, so that what is under way on it does not arrive on another one: MPI uses their
    // numbers again.
    void abandon() { comm_ = MPI_COMM_NULL; }

    // All ranks of whole call it. Unlike a duplicate, parts have nothing of what the program has
    // attached to the whole, and no function of the program is called.
    static Status split(MPI_Comm whole, int color, int key, Communicator &part);

    // Where ranks' outcomes are counted; where MPI fails, it may be written to for ever.
    struct Tally {
        int own = 0;
        int largest = 0;
    };

    // all: own, or a failure if any rank has one; only its code, where it is another's: there may
    // be no memory for more. Fails where MPI does.
    Status check_all(Status own, Tally &tally, Status &all) const;

    MPI_Comm get() const { return comm_; }
    int size() const;
    int rank() const;

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace cd::mpi
