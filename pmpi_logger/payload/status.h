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

// MPI does not write all of a status: MPI_ERROR seldom, only the count after a file operation,
// nothing if a poll finds nothing. The rest is the program's, has no value perhaps, and stays:
// marks are there during the call, and in the log.
struct StatusMarks {
    // Returns what was there before.
    static MPI_Status set(MPI_Status &status) {
        const MPI_Status before = status;
        status.MPI_SOURCE = status.MPI_TAG = status.MPI_ERROR = mark;
#ifdef OPEN_MPI
        status._cancelled = 0;
        status._ucount = mark;
#else
        status.count_hi_and_cancelled = 0; // MPI changes parts of it
        status.count_lo = mark;
#endif
        return before;
    }

    // Puts back what has a mark still.
    static void remove(MPI_Status &status, const MPI_Status &before) {
        for (int MPI_Status::*field :
             {&MPI_Status::MPI_SOURCE, &MPI_Status::MPI_TAG, &MPI_Status::MPI_ERROR}) {
            if (status.*field == mark) {
                status.*field = before.*field;
            }
        }
#ifdef OPEN_MPI
        if (status._ucount == mark) {
            status._ucount = before._ucount;
            status._cancelled = before._cancelled;
        }
#else
        if (status.count_lo == mark) {
            status.count_lo = before.count_lo;
            status.count_hi_and_cancelled = before.count_hi_and_cancelled;
        }
#endif
    }

private:
    static constexpr int mark = 0x5EED0BAD;
};

// Lends a call a status when the program ignores it. Use: pass to() to MPI, then settle().
class StatusLoan {
public:
    explicit StatusLoan(MPI_Status *wanted)
        : to_(wanted == MPI_STATUS_IGNORE ? &own_ : wanted), before_(StatusMarks::set(*to_)) {}
    MPI_Status *to() const { return to_; }
    void settle() {
        logged_ = *to_;
        StatusMarks::remove(*to_, before_);
    }
    const MPI_Status &logged() const { return logged_; } // with marks

private:
    MPI_Status own_ = {};
    MPI_Status *to_;
    MPI_Status before_;
    MPI_Status logged_ = {};
};

// Gives the program a logged status, as MPI wrote it.
inline void give_status(const MPI_Status &logged, MPI_Status *wanted) {
    if (wanted != MPI_STATUS_IGNORE) {
        const MPI_Status before = *wanted;
        *wanted = logged;
        StatusMarks::remove(*wanted, before);
    }
}

} // namespace cd::logger
