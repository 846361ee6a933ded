// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/deferred_free.h"

#include "call/replay_range.h"
#include "mpi/reentry_guard.h"
#include "objects/callback_effects.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

struct Later {
    cd_log_place place;
    std::function<void()> action;
    Moment added = next_moment();
};

std::mutex forgotten_mutex;

// Never destroyed: CDs may be used while the process ends.
std::vector<Later> &forgotten() {
    static auto &actions = *new std::vector<Later>;
    return actions;
}

UndoList &restored() {
    static auto &list = *new UndoList;
    return list;
}

} // namespace

std::optional<cd_log_place> last_entry() {
    cd_log_place place = {};
    if (cd_log_here(&place) == 0 || place.entry == 0) {
        return std::nullopt;
    }
    --place.entry;
    return place;
}

void when_forgotten(const cd_log_place &place, std::function<void()> action) {
    const std::scoped_lock lock(forgotten_mutex);
    forgotten().push_back({place, std::move(action)});
}

void when_restored(const cd_log_place &place, std::function<void()> action) {
    restored().add(place, {{}, std::move(action)});
}

void when_restored(const cd_log_place &place, Undo undo) { restored().add(place, std::move(undo)); }

bool is_undone(const Part &part) { return restored().undoes(part); }

bool is_being_undone(const Part &part) { return restored().is_about_to_undo(part); }

void forget_object(uint64_t handle) { restored().forget_object(handle); }

void run_restored(cd_handle cd) {
    const ReentryGuard inside;
    const CallbackEffects unsettled(CallbackEffects::Of::undo);
    const Moment now = next_moment();
    const ReplayRange range(cd);
    restored().run(now, [&](const cd_log_place &place) { return range.covers(place); });
}

namespace {

// Runs, in their order, the actions that were added before `now` and that `wanted` selects.
void forget(Moment now, const UndoList::Wanted &wanted) {
    restored().forget(now, wanted);
    std::vector<Later> taken;
    {
        const std::scoped_lock lock(forgotten_mutex);
        std::vector<Later> &all = forgotten();
        const auto gone = std::stable_partition(all.begin(), all.end(), [&](const Later &later) {
            return later.added >= now || !wanted(later.place);
        });
        std::move(gone, all.end(), std::back_inserter(taken));
        all.erase(gone, all.end());
    }
    for (const Later &later : taken) {
        later.action();
    }
}

} // namespace

void run_forgotten(uint64_t family, cd_handle root) {
    const ReentryGuard inside;
    const Moment now = next_moment();
    const ReplayRange kept(root);
    forget(now, [&](const cd_log_place &place) {
        return place.family == family && !kept.covers(place);
    });
}

void run_all_forgotten() {
    const ReentryGuard inside;
    forget(next_moment(), [](const cd_log_place &) { return true; });
}

namespace {

std::mutex freed_mutex;

struct Freed {
    uint64_t handle = 0;
    bool given_back = false; // by a restore
};
using Key = std::array<uint64_t, 3>; // stream, entry and which

// Never destroyed: MPI may be used while the process ends.
std::map<Key, Freed> &freed() {
    static auto &all = *new std::map<Key, Freed>;
    return all;
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place, uint64_t which) {
    const Key key = {place.stream, place.entry, which};
    when_restored(place, [key] {
        const std::scoped_lock lock(freed_mutex);
        if (const auto found = freed().find(key); found != freed().end()) {
            found->second.given_back = true;
        }
    });
    const std::scoped_lock lock(freed_mutex);
    freed()[key] = {handle, false};
}

void FreedHandles::add_again() {
    const std::optional<cd_log_place> place = last_entry();
    std::map<Key, Freed> again;
    if (place) {
        const std::scoped_lock lock(freed_mutex);
        again = {freed().lower_bound({place->stream, place->entry, 0}),
                 freed().lower_bound({place->stream, place->entry + 1, 0})};
    }
    for (const auto &[key, one] : again) {
        if (one.given_back) {
            add(one.handle, *place, key[2]);
        }
    }
}

bool FreedHandles::has(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return std::ranges::any_of(freed(), [handle](const auto &one) {
        return one.second.handle == handle && !one.second.given_back;
    });
}

bool FreedHandles::remove(const cd_log_place &place, uint64_t which) {
    const std::scoped_lock lock(freed_mutex);
    const auto one = freed().extract(Key{place.stream, place.entry, which});
    return !one.empty() && !one.mapped().given_back;
}

} // namespace cd::logger
