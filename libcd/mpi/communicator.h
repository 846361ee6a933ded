// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/own_mpi.h"

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

    static Status duplicate(MPI_Comm from, Communicator &made);
    Status split(int color, int key, Communicator &part) const;

    // The first failure, if any rank has one; only that, where it is another's: there may be no
    // memory for more.
    Status check_all(Status own) const;

    MPI_Comm get() const { return comm_; }
    int size() const;
    int rank() const;

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace cd::mpi
