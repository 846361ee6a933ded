// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "call/replay_range.h"
#include "mpi/thread_data.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cd::logger {

// An object that has a handle, whatever it is.
struct Owner {
    int number = 0; // unique
    MPI_Fint in_fortran = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL; // of a freed object, as the replay has it
    cd_log_place made = {};                       // the entry that made it; 0 if it is not known
    cd_log_place freed_at = {};                   // the entry that freed it
    bool freed = false;                           // MPI has freed it
};

// Returns the next number of an object.
int next_owner();

// Notes that the entry at `place` freed the object. Returns false if an earlier execution did.
bool note_freed(Owner &owner, const cd_log_place &place);

// The log of the thread that uses a handle. Must be made while no lock of the logger is held.
class Asker {
public:
    Asker();

    // Returns true if the log made or freed the object.
    bool has_in_log(const Owner &owner) const;
    // Returns true if the thread may use the object. `restored`: the CD that was restored to before
    // the object was freed.
    bool may_mean(const Owner &owner, cd_handle restored) const;

private:
    cd_log_place here_ = {};
};

// Finds the object that a thread means by a handle which MPI may have given to another object
// since. During a replay a freed handle names the old object until the replay reaches the recorded
// free.
//
// Object is an Owner and has a handle. Thread-safe. Most handles are found to name no object here
// without a lock.
template <typename Object> class Owners {
public:
    using Handle = decltype(Object::handle);

    static bool may_have(Handle handle) {
        return count_.load(std::memory_order_relaxed) != 0 && handles_.may_have(word_of(handle));
    }

    // Returns nothing if only MPI knows what the thread means.
    static std::optional<Object> find(Handle handle) {
        return may_have(handle) ? find_in(&All::of_handle, word_of(handle)) : std::nullopt;
    }
    // Takes the handle in Fortran.
    static std::optional<Object> find_number(MPI_Fint in_fortran) {
        return numbers_.may_have(word_of(in_fortran))
                   ? find_in(&All::of_number, word_of(in_fortran))
                   : std::nullopt;
    }
    // Returns the object that the entry at `place` made. One call may make several.
    static std::optional<Object> made_at(const cd_log_place &place, Handle handle) {
        const std::scoped_lock lock(mutex());
        const auto found = all().of_place.find({place.stream, place.entry, word_of(handle)});
        return found != all().of_place.end() ? std::optional(all().kept.at(found->second).object)
                                             : std::nullopt;
    }

    // Adds an object that has been made, or that a replay makes.
    static void add(const Object &object) {
        const std::scoped_lock lock(mutex());
        Kept &kept = keep(object);
        kept.object.handler = object.handler;
        appear(kept);
    }
    // Called while a restore goes back to when the program had the object. The object is there
    // after the restore, unless the replay has to make it.
    static void put_back(const Object &object) {
        const std::scoped_lock lock(mutex());
        Kept &kept = keep(object);
        disappear(kept);
        kept.object = object;
        of_this_thread<PutBack>().push_back(object.number);
    }
    // Called when the thread's restore has ended.
    static void restored(cd_handle cd) {
        const Reach reach(cd);
        const std::scoped_lock lock(mutex());
        PutBack &put_back = of_this_thread<PutBack>();
        for (const int number : put_back) { // the latest first
            if (const auto found = all().kept.find(number); found != all().kept.end()) {
                found->second.restored = nullptr;
                if (!reach.covers(found->second.object.made)) {
                    appear(found->second);
                }
            }
        }
        put_back.clear();
        for (auto &[number, kept] : all().kept) {
            if (reach.covers(kept.object.made)) {
                disappear(kept);
            }
            if (kept.object.freed && reach.covers(kept.object.freed_at) &&
                cd_log_inside(kept.restored) == 0) {
                kept.restored = cd;
            }
        }
    }
    static void remove(int number) {
        const std::scoped_lock lock(mutex());
        if (const auto found = all().kept.find(number); found != all().kept.end()) {
            disappear(found->second);
            forget(found->second.object);
            all().kept.erase(found);
            --count_;
        }
    }

    // Calls `change` with the object, unless it was removed.
    template <typename Change> static void change(int number, const Change &change) {
        const std::scoped_lock lock(mutex());
        if (const auto found = all().kept.find(number); found != all().kept.end()) {
            change(found->second.object);
        }
    }

private:
    struct Kept {
        Object object;
        uint64_t since = 0;           // when it appeared; 0 if it is not there
        cd_handle restored = nullptr; // the CD that was restored to before it was freed
    };
    using Name = std::pair<uint64_t, uint64_t>; // handle, and since when
    using Named = std::map<Name, Kept *>;
    using MadeAt = std::array<uint64_t, 3>; // stream, entry and handle
    struct All {
        std::map<int, Kept> kept;
        std::map<MadeAt, int> of_place;
        Named of_handle;
        Named of_number;
        uint64_t times = 0;
    };
    struct PutBack : std::vector<int> {};

    static std::mutex &mutex() {
        static auto &only = *new std::mutex;
        return only;
    }
    static All &all() {
        static auto &them = *new All;
        return them;
    }

    static std::optional<Object> find_in(Named All::*named, uint64_t name) {
        const Asker asker;
        const std::scoped_lock lock(mutex());
        const Kept *meant = nullptr;
        bool is_own = false;
        const Named &there = all().*named;
        for (auto at = there.lower_bound({name, 0}); at != there.end() && at->first.first == name;
             ++at) {
            const Kept &kept = *at->second;
            if (!asker.may_mean(kept.object, kept.restored)) {
                continue;
            }
            const bool own = asker.has_in_log(kept.object);
            if (own >= is_own) { // the newest of the own log
                meant = &kept;
                is_own = own;
            }
        }
        return meant != nullptr ? std::optional(meant->object) : std::nullopt;
    }

    // The caller of the following holds the mutex. A known object stays as it is.
    static Kept &keep(const Object &object) {
        const auto [found, is_new] = all().kept.try_emplace(object.number, Kept{object});
        if (is_new) {
            handles_.add(word_of(object.handle));
            numbers_.add(word_of(object.in_fortran));
            ++count_;
            if (object.made.family != 0) {
                all().of_place.emplace(place_of(object), object.number);
            }
        }
        return found->second;
    }
    static void forget(const Object &object) {
        handles_.remove(word_of(object.handle));
        numbers_.remove(word_of(object.in_fortran));
        if (object.made.family != 0) {
            all().of_place.erase(place_of(object));
        }
    }
    static MadeAt place_of(const Object &object) {
        return {object.made.stream, object.made.entry, word_of(object.handle)};
    }
    static void appear(Kept &kept) {
        disappear(kept);
        kept.since = ++all().times;
        all().of_handle.emplace(Name(word_of(kept.object.handle), kept.since), &kept);
        all().of_number.emplace(Name(word_of(kept.object.in_fortran), kept.since), &kept);
    }
    static void disappear(Kept &kept) {
        if (const uint64_t since = std::exchange(kept.since, 0); since != 0) {
            all().of_handle.erase({word_of(kept.object.handle), since});
            all().of_number.erase({word_of(kept.object.in_fortran), since});
        }
    }

    static inline constinit std::atomic<int> count_ = 0;
    static inline constinit HandleFilter handles_;
    static inline constinit HandleFilter numbers_;
};

struct LoggedFile : Owner {
    MPI_File handle = MPI_FILE_NULL;
};

// Files that were opened or closed while a log records. MPI closes them when the program does, and
// a replay uses their handles, also those of Fortran, without MPI.
class LoggedFiles : public Owners<LoggedFile> {
public:
    static std::optional<LoggedFile> find_open(MPI_File file) {
        const std::optional<LoggedFile> known = find(file);
        return known && !known->freed ? known : std::nullopt;
    }
    // Finds a file that the program uses in a replay although MPI has closed it.
    static std::optional<LoggedFile> find_closed(MPI_File file) { return closed(find(file)); }
    static std::optional<LoggedFile> find_closed_number(MPI_Fint number) {
        return closed(find_number(number));
    }

private:
    static std::optional<LoggedFile> closed(const std::optional<LoggedFile> &file) {
        return file && file->freed ? file : std::nullopt;
    }
};

// A window that MPI no longer has when a replay uses it.
struct GoneWindow : Owner {
    MPI_Win handle = MPI_WIN_NULL;
    uint64_t window = 0; // its number
};
using GoneWindows = Owners<GoneWindow>;

} // namespace cd::logger
