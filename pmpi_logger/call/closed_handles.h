// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "call/replay_range.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <tuple>

namespace cd::logger {

// An object with a handle that MPI may give to another object later.
struct HandleOwner {
    int number = 0; // unique
    MPI_Fint in_fortran = 0;
    cd_log_place made = {};     // the entry that made it; 0 if it is not known
    cd_log_place freed_at = {}; // the entry that freed it
    bool freed = false;         // MPI has freed it

    // Returns whether a thread whose log is at `here` may use it.
    bool is_usable(const cd_log_place &here, bool replays) const {
        if (!freed) {
            return true;
        }
        return here.family != 0 && here.family == freed_at.family &&
               (here.stream == freed_at.stream ? here.entry <= freed_at.entry : replays);
    }
};

// Returns the next number of an object.
inline int next_owner_number() {
    static constinit std::atomic<int> last = 0;
    return ++last;
}

// Finds the object that a thread means by a handle which MPI may have given to another object
// since. During a replay a freed handle names the old object until the replay reaches the recorded
// free.
//
// Object is a HandleOwner with a handle. Thread-safe. Most handles are found to name no object here
// without a lock.
template <typename Object> class HandleOwners {
public:
    using Handle = decltype(Object::handle);

    static bool may_have(Handle handle) {
        return count_.load(std::memory_order_relaxed) != 0 && handles_.may_have(word_of(handle));
    }

    // Returns nothing if only MPI knows what the thread means.
    static std::optional<Object> find(Handle handle) {
        return may_have(handle)
                   ? find_usable([=](const Object &each) { return each.handle == handle; })
                   : std::nullopt;
    }
    // Returns an object that the program uses in a replay although MPI has freed it.
    static std::optional<Object> find_freed(Handle handle) { return freed(find(handle)); }
    static std::optional<Object> find_freed_in_fortran(MPI_Fint handle) {
        return count_.load(std::memory_order_relaxed) != 0
                   ? freed(
                         find_usable([=](const Object &each) { return each.in_fortran == handle; }))
                   : std::nullopt;
    }
    // Returns the object that the entry at `place` made. One call may make several.
    static std::optional<Object> made_at(const cd_log_place &place, Handle handle) {
        const std::scoped_lock lock(mutex());
        for (const Kept &kept : all()) {
            const Object &each = kept.object;
            if (each.made.family == place.family && each.made.stream == place.stream &&
                each.made.entry == place.entry && each.handle == handle) {
                return each;
            }
        }
        return std::nullopt;
    }

    // Adds an object that has been made, or that a replay makes.
    static void add(const Object &object) { keep(object, true); }
    // Called while a restore goes back to when the program had the object.
    static void put_back(const Object &object) { keep(object, false); }
    // Called when a restore has ended: what it gave back to the program is there, unless the replay
    // has to make it.
    static void restored(cd_handle cd) {
        const ReplayRange range(cd);
        const std::scoped_lock lock(mutex());
        for (Kept &kept : all()) {
            if (range.covers(kept.object.made)) {
                kept.is_there = false;
            } else if (kept.object.freed && range.covers(kept.object.freed_at)) {
                kept.is_there = true;
            }
        }
    }
    static void remove(int number) {
        const std::scoped_lock lock(mutex());
        if (const auto found = find_kept(number); found != all().end()) {
            handles_.remove(word_of(found->object.handle));
            all().erase(found);
            --count_;
        }
    }

private:
    struct Kept {
        Object object;
        bool is_there = false;
    };

    static std::optional<Object> freed(const std::optional<Object> &object) {
        return object && object->freed ? object : std::nullopt;
    }

    static std::mutex &mutex() {
        static auto &only = *new std::mutex;
        return only;
    }
    static std::list<Kept> &all() {
        static auto &them = *new std::list<Kept>;
        return them;
    }
    static auto find_kept(int number) {
        return std::ranges::find_if(
            all(), [number](const Kept &kept) { return kept.object.number == number; });
    }

    static void keep(const Object &object, bool is_there) {
        const std::scoped_lock lock(mutex());
        if (const auto found = find_kept(object.number); found != all().end()) {
            *found = {object, is_there};
        } else {
            all().push_back({object, is_there});
            handles_.add(word_of(object.handle));
            ++count_;
        }
    }

    // Of several objects, prefers those of the thread's own log, and what it frees next.
    template <typename Named> static std::optional<Object> find_usable(const Named &is_named) {
        cd_log_place here = {};
        cd_log_here(&here); // which takes a lock of the library
        const bool replays = cd_log_mode() == CD_LOG_REPLAYING;
        const auto rank_of = [&](const HandleOwner &each) {
            const bool is_own =
                each.made.stream == here.stream || each.freed_at.stream == here.stream;
            return std::tuple(!is_own, !each.freed, each.freed_at.entry);
        };
        const std::scoped_lock lock(mutex());
        const Object *meant = nullptr;
        for (const Kept &kept : all()) {
            if (kept.is_there && is_named(kept.object) && kept.object.is_usable(here, replays) &&
                (meant == nullptr || rank_of(kept.object) < rank_of(*meant))) {
                meant = &kept.object;
            }
        }
        return meant != nullptr ? std::optional(*meant) : std::nullopt;
    }

    static inline constinit std::atomic<int> count_ = 0;
    static inline constinit HandleFilter handles_;
};

// A file that was opened or closed while a log recorded. MPI closes it when the program does, and a
// replay uses its handles, also that of Fortran, without MPI.
struct LoggedFile : HandleOwner {
    MPI_File handle = MPI_FILE_NULL;
};
using LoggedFiles = HandleOwners<LoggedFile>;

// A window that MPI no longer has when a replay uses it.
struct FreedWindow : HandleOwner {
    MPI_Win handle = MPI_WIN_NULL;
    uint64_t window = 0; // its number
};
using FreedWindows = HandleOwners<FreedWindow>;

} // namespace cd::logger
