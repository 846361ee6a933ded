// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace cd::logger {

// Each is greater than all that any thread was given before. A list that other threads add to is
// judged by what was so at some time (Reach): what was added later may be in a log that began
// later.
using Moment = uint64_t;

inline Moment next_moment() {
    static constinit std::atomic<Moment> last = 0;
    return ++last;
}

// One of the things that a program changes in an object: an attribute, the error handler, the name,
// the key of an info object. Both numbers are 0 in what is none; a handle may be 0: MPI_FILE_NULL,
// which has an error handler, is in MPICH.
struct Part {
    uint64_t object = 0; // its handle
    uint64_t which = 0;
    auto operator<=>(const Part &) const = default;
};

struct Undo {
    Part part;                    // none: then MPI need not have any object
    std::function<void()> action; // while MPI has the object
    // Instead of it once MPI has freed the object, for what a replay is told in its place. May be
    // empty. Gets the place of the change, and the number of the Owner that has been freed.
    std::function<void(const cd_log_place &, int)> if_gone;

    explicit operator bool() const { return action != nullptr; }
};

// What restores undo. Thread-safe.
class UndoList {
public:
    // Of a part: unless undoes() says that there is no need.
    void add(const cd_log_place &place, Undo undo);

    // Whether each restore that undoes a change of the part, made now by this thread, undoes an
    // older one, too. So there are no more undos of a part in a log than CDs that write to it.
    bool undoes(const Part &part);

    // Whether run() has yet to come to one of the part.
    bool is_about_to_undo(const Part &part);

    // MPI is about to free the object; its handle may come to mean another one. What is given is
    // put back if MPI refuses. owner: its number, 0 if it is no Owner.
    struct Change {
        cd_log_place place;
        Undo undo;
    };
    std::vector<Change> object_goes(uint64_t handle, int owner = 0);
    void put_back(std::vector<Change> &&changes);

    // Takes out those that were added before now and for which wanted says so. The first runs them,
    // the latest first, and of each part the oldest only; meanwhile other threads may free objects.
    using Wanted = std::function<bool(const cd_log_place &)>;
    void run(Moment now, const Wanted &wanted);
    void forget(Moment now, const Wanted &wanted);

private:
    struct Later {
        cd_log_place place;
        Undo undo;
        bool is_taken = false;
        Moment added = next_moment();
    };
    using Laters = std::list<Later>;
    struct InLog {
        Part part;
        uint64_t stream = 0;
        auto operator<=>(const InLog &) const = default;
    };
    using Parts = std::multimap<InLog, Laters::iterator>; // of one, the newest is the last

    // Where those of the part lie that are left, the oldest first, and which of them are needed no
    // more.
    std::vector<cd_log_place> places_of(const InLog &part);
    std::vector<cd_log_place> useless_of(const InLog &part);

    // The caller holds the mutex.
    void take(Moment now, const Wanted &wanted, Laters &taken);
    static void leave_to_older(Laters &taken);
    void drop(const InLog &part, const std::vector<cd_log_place> &useless, Laters &dropped);
    void remove_part(Laters::iterator later);
    Parts::iterator erase(Parts::iterator part);

    std::mutex mutex_;
    Laters later_;
    Parts parts_;                   // of those and of what is about to run
    std::atomic<size_t> count_ = 0; // of parts_
};

} // namespace cd::logger
