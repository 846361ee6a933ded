// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <mpi.h>

namespace cd::logger {

// Returns how many bytes a message brought, from the implementation's status: faster than
// MPI_Get_elements.
template <typename Status> size_t bytes_received(const Status &status) {
    if constexpr (requires { status._ucount; }) { // Open MPI
        return status._ucount;
    } else {
        return static_cast<size_t>(static_cast<unsigned>(status.count_lo)) |
               static_cast<size_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1) << 32;
    }
}

template <typename Status> bool was_cancelled(const Status &status) {
    if constexpr (requires { status._cancelled; }) {
        return status._cancelled != 0;
    } else {
        return (status.count_hi_and_cancelled & 1) != 0;
    }
}

// Returns whether the status is a null pointer that does not mean "ignore": MPI refuses it.
inline bool no_status(const MPI_Status *wanted) {
    return wanted == nullptr && wanted != MPI_STATUS_IGNORE;
}

// Lends a call a status if the program ignores it. Pass to() to MPI; written() is what MPI wrote.
class StatusLoan {
public:
    StatusLoan(MPI_Status *wanted, MPI_Status &lent)
        : is_mistaken_(no_status(wanted)),
          to_(wanted == MPI_STATUS_IGNORE || is_mistaken_ ? &lent : wanted) {}
    MPI_Status *to() const { return is_mistaken_ ? nullptr : to_; }
    const MPI_Status &written() const { return *to_; }

private:
    bool is_mistaken_;
    MPI_Status *to_;
};

// Gives the program a logged status, with the MPI_ERROR that it had after the recorded call.
inline void give_status(const MPI_Status &logged, MPI_Status *wanted) {
    if (wanted != MPI_STATUS_IGNORE && !no_status(wanted)) {
        *wanted = logged;
    }
}

} // namespace cd::logger
