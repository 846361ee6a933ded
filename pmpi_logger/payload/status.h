// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <mpi.h>

namespace cd::logger {

// Bytes that a message brought. What the program would get from MPI_Get_elements with MPI_BYTE, in
// an instant: both implementations keep it in the status.
inline size_t bytes_received(const MPI_Status &status) {
#ifdef OPEN_MPI
    return status._ucount;
#else
    return static_cast<size_t>(static_cast<unsigned>(status.count_lo)) |
           static_cast<size_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1) << 32;
#endif
}

inline bool was_cancelled(const MPI_Status &status) {
#ifdef OPEN_MPI
    return status._cancelled != 0;
#else
    return (status.count_hi_and_cancelled & 1) != 0;
#endif
}

// Whether a null pointer is no way to ignore a status here, but a mistake that MPI tells of.
inline bool no_status(const MPI_Status *wanted) {
    return wanted == nullptr && wanted != MPI_STATUS_IGNORE;
}

// MPI_ERROR of a status that MPI is given, to find out whether it writes it, which it need not do.
constexpr int unwritten_error = 0x5EED0BAD;

// Lends a call a status when the program ignores it, and finds out whether MPI writes MPI_ERROR.
// Use: pass to() to MPI, then settle(); written() is what it wrote. What is lent lies elsewhere, so
// that MPI is told of nothing else.
class StatusLoan {
public:
    StatusLoan(MPI_Status *wanted, MPI_Status &lent)
        : is_mistaken_(no_status(wanted)),
          to_(wanted == MPI_STATUS_IGNORE || is_mistaken_ ? &lent : wanted),
          before_(to_->MPI_ERROR) {
        to_->MPI_ERROR = unwritten_error;
    }
    MPI_Status *to() const { return is_mistaken_ ? nullptr : to_; }
    const MPI_Status &written() const { return *to_; }
    bool settle() {
        const bool error_written = to_->MPI_ERROR != unwritten_error;
        if (!error_written) {
            to_->MPI_ERROR = before_;
        }
        return error_written;
    }

private:
    bool is_mistaken_;
    MPI_Status *to_;
    int before_;
};

// Gives the program a logged status, as MPI wrote it.
inline void give_status(const MPI_Status &logged, bool error_written, MPI_Status *wanted) {
    if (wanted != MPI_STATUS_IGNORE && !no_status(wanted)) {
        const int before = wanted->MPI_ERROR;
        *wanted = logged;
        if (!error_written) {
            wanted->MPI_ERROR = before;
        }
    }
}

} // namespace cd::logger
