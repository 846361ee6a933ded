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

// What is asked of an object that has a handle, whatever it is.
struct Owner {
    int number = 0; // every one has another
    MPI_Fint in_fortran = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL; // of one that is freed, as the replay has it
    cd_log_place made = {};                       // 0 if it is not known
    cd_log_place freed_at = {};                   // of one that is freed
    bool freed = false;                           // MPI knows it no more
};

// The next number of an object.
int next_owner();

// The program has freed it by the entry at place. False if that is known from an execution before.
bool note_freed(Owner &owner, const cd_log_place &place);

// Who asks, by its log. Made while no lock of the logger's is held.
class Asker {
public:
    Asker();

    // Whether its log says when the handle began or ceased to be the object's.
    bool has_in_log(const Owner &owner) const;
    // Whether it may mean one that is there by its handle. restored: the CDs that were restored to
    // before it was freed.
    bool may_mean(const Owner &owner, const std::vector<cd_handle> &restored) const;

private:
    cd_log_place here_ = {};
};

// Whose a handle is, for the thread that asks. MPI gives that of an object which it has freed to
// another one, while a replay uses it for the freed one: a thread means that as long as its log has
// to come to where it is freed, or if its CD lies in one that was restored to before that. Of
// several it means one of its own log, and of these the one that came last.
//
// An Object is an Owner and has a handle. Thread-safe; most handles are told to be no object's here
// without a lock.
template <typename Object> class Owners {
public:
    using Handle = decltype(Object::handle);

    static bool may_have(Handle handle) {
        return count_.load(std::memory_order_relaxed) != 0 && handles_.may_have(word_of(handle));
    }

    // None: MPI knows best what the thread means.
    static std::optional<Object> find(Handle handle) {
        return may_have(handle) ? find_in(&All::of_handle, word_of(handle)) : std::nullopt;
    }
    // By its handle in Fortran.
    static std::optional<Object> find_number(MPI_Fint in_fortran) {
        return numbers_.may_have(word_of(in_fortran))
                   ? find_in(&All::of_number, word_of(in_fortran))
                   : std::nullopt;
    }
    // What was made there under the handle: one call may complete the making of several.
    static std::optional<Object> made_at(const cd_log_place &place, Handle handle) {
        const std::scoped_lock lock(mutex());
        const auto found = all().of_place.find({place.stream, place.entry, word_of(handle)});
        return found != all().of_place.end() ? std::optional(all().kept.at(found->second).object)
                                             : std::nullopt;
    }

    // It is there: it has been made, or a replay makes it.
    static void add(const Object &object) {
        const std::scoped_lock lock(mutex());
        Kept &kept = keep(object);
        kept.object.handler = object.handler;
        appear(kept);
    }
    // A restore goes back to when the program had it. It is there when that has ended, unless the
    // replay has to make it.
    static void put_back(const Object &object) {
        const std::scoped_lock lock(mutex());
        Kept &kept = keep(object);
        disappear(kept);
        kept.object = object;
        of_this_thread<PutBack>().push_back(object.number);
    }
    // The thread's restore has ended.
    static void restored(cd_handle cd) {
        const Reach reach(cd);
        const std::scoped_lock lock(mutex());
        PutBack &put_back = of_this_thread<PutBack>();
        for (const int number : put_back) { // the latest first
            if (const auto found = all().kept.find(number); found != all().kept.end()) {
                found->second.restored.clear();
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
                std::ranges::none_of(kept.restored, [](cd_handle c) { return cd_log_inside(c); })) {
                kept.restored.push_back(cd);
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

    // Calls change with it, unless it is gone.
    template <typename Change> static void change(int number, const Change &change) {
        const std::scoped_lock lock(mutex());
        if (const auto found = all().kept.find(number); found != all().kept.end()) {
            change(found->second.object);
        }
    }

private:
    struct Kept {
        Object object;
        uint64_t since = 0; // greater than of all that came to be there before; 0: it is not there
        std::vector<cd_handle> restored = {}; // to before it was freed
    };
    using Name = std::pair<uint64_t, uint64_t>; // and since when
    using Named = std::map<Name, Kept *>;       // those that are there
    using MadeAt = std::array<uint64_t, 3>;     // stream, entry and handle
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
            if (own >= is_own) { // the one that came last comes last here
                meant = &kept;
                is_own = own;
            }
        }
        return meant != nullptr ? std::optional(meant->object) : std::nullopt;
    }

    // The caller of these holds the mutex. What is known already stays as it is.
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

} // namespace cd::logger
