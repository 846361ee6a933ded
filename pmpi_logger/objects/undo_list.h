// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>

namespace cd::logger {

// A number greater than all that were returned before, to any thread. A ReplayRange describes the
// logs at one moment, so lists that other threads add to are judged without what was added later:
// that may lie in a newer log.
using Moment = uint64_t;

inline Moment next_moment() {
    static constinit std::atomic<Moment> last = 0;
    return ++last;
}

// One part of an object that a program changes: an attribute, the error handler, the name, or a key
// of an info object. Both numbers are 0 only without a part. The handle alone may be 0: MPICH's
// MPI_FILE_NULL is, and it has an error handler.
struct Part {
    uint64_t object = 0; // its handle
    uint64_t which = 0;
    auto operator<=>(const Part &) const = default;
};

struct Undo {
    Part part;                    // none: then MPI need not have any object
    std::function<void()> action; // while MPI has the object

    explicit operator bool() const { return action != nullptr; }
};

// Changes that restores take back. Thread-safe.
class UndoList {
public:
    // Adds an undo. For a part, callers ask undoes() first whether one is needed.
    void add(const cd_log_place &place, Undo undo);

    // Returns true if every restore that takes back a change made now also takes back an older
    // change of the part.
    bool undoes(const Part &part);

    // Returns true if run() has still to undo a change of the part.
    bool is_about_to_undo(const Part &part);

    // Removes the undos of an object before MPI frees it and gives its handle to another one.
    void forget_object(uint64_t handle);

    // Remove the undos added before `now` that `wanted` selects. run() runs them, the latest first,
    // and for each part only the oldest. Other threads may free objects meanwhile.
    using Wanted = std::function<bool(const cd_log_place &)>;
    void run(Moment now, const Wanted &wanted);
    void forget(Moment now, const Wanted &wanted);

private:
    struct Later {
        cd_log_place place;
        Undo undo;
        Moment added = next_moment();
        Moment taken = 0; // which run() is about to run it
    };

    std::mutex mutex_;
    std::list<Later> later_;
};

} // namespace cd::logger
