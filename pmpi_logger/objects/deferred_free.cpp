// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/deferred_free.h"

#include "call/handle_word.h"
#include "call/replay_range.h"
#include "mpi/reentry_guard.h"
#include "objects/inner_frees.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

struct Later {
    cd_log_place place;
    std::function<void()> action;
    Moment added = next_moment();
};

class List {
public:
    void add(const cd_log_place &place, std::function<void()> action) {
        const std::scoped_lock lock(mutex_);
        later_.push_back({place, std::move(action)});
    }

    // Removes and returns, in their order, the actions added before `now` that `wanted` selects.
    template <typename Wanted> std::vector<Later> take(Moment now, const Wanted &wanted) {
        const std::scoped_lock lock(mutex_);
        const auto kept =
            std::stable_partition(later_.begin(), later_.end(), [&](const Later &later) {
                return later.added >= now || !wanted(later.place);
            });
        std::vector<Later> taken(std::make_move_iterator(kept),
                                 std::make_move_iterator(later_.end()));
        later_.erase(kept, later_.end());
        return taken;
    }

private:
    std::mutex mutex_;
    std::vector<Later> later_;
};

// Never destroyed: CDs may be used while the process ends.
List &forgotten() {
    static auto &list = *new List;
    return list;
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
    forgotten().add(place, std::move(action));
}

void when_restored(const cd_log_place &place, std::function<void()> action) {
    restored().add(place, {{}, std::move(action)});
}

void when_restored(const cd_log_place &place, Undo undo) { restored().add(place, std::move(undo)); }

bool is_undone(const Part &part) { return restored().undoes(part); }

bool is_being_undone(const Part &part) { return restored().is_about_to_undo(part); }

void object_goes(uint64_t handle) { restored().object_goes(handle); }

void run_restored(cd_handle cd) {
    const ReentryGuard inside;
    const InnerCalls unsettled(InnerCalls::Of::undo);
    const Moment now = next_moment();
    const Reach reach(cd);
    restored().run(now, [&](const cd_log_place &place) { return reach.covers(place); });
}

void run_forgotten(uint64_t family, cd_handle root) {
    const ReentryGuard inside;
    const Moment now = next_moment();
    const Reach kept(root);
    const auto is_forgotten = [&](const cd_log_place &place) {
        return place.family == family && !kept.covers(place);
    };
    restored().forget(now, is_forgotten);
    for (const Later &later : forgotten().take(now, is_forgotten)) {
        later.action();
    }
}

void run_all_forgotten() {
    const ReentryGuard inside;
    const Moment now = next_moment();
    const auto all = [](const cd_log_place &) { return true; };
    restored().forget(now, all);
    for (const Later &later : forgotten().take(now, all)) {
        later.action();
    }
}

namespace {

std::mutex freed_mutex;

struct OneFreed {
    uint64_t handle = 0;
    bool given_back = false; // by a restore
};

struct Freed {
    std::map<std::array<uint64_t, 3>, OneFreed> at; // of stream, entry and which
    std::unordered_multiset<uint64_t> handles;      // not given back yet

    void set(OneFreed &one, bool given_back) {
        if (one.given_back == given_back) {
            return;
        }
        one.given_back = given_back;
        if (given_back) {
            handles.erase(handles.find(one.handle));
        } else {
            handles.insert(one.handle);
        }
    }
};
std::atomic<size_t> freed_count = 0;

// Never destroyed: MPI may be used while the process ends.
Freed &freed() {
    static auto &all = *new Freed;
    return all;
}

void give_back(const cd_log_place &place, uint64_t which) {
    const std::scoped_lock lock(freed_mutex);
    const auto found = freed().at.find({place.stream, place.entry, which});
    if (found != freed().at.end()) {
        freed().set(found->second, true);
    }
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place, uint64_t which) {
    when_restored(place, [=] { give_back(place, which); });
    const std::scoped_lock lock(freed_mutex);
    OneFreed &one = freed()
                        .at.try_emplace({place.stream, place.entry, which}, OneFreed{handle, true})
                        .first->second;
    if (one.given_back) {
        one.handle = handle;
        freed().set(one, false);
    }
    freed_count = freed().at.size();
}

void FreedHandles::add_again() {
    const std::optional<cd_log_place> place = freed_count > 0 ? last_entry() : std::nullopt;
    if (!place) {
        return;
    }
    std::map<uint64_t, uint64_t> handles; // by which
    {
        const std::scoped_lock lock(freed_mutex);
        for (auto one = freed().at.lower_bound({place->stream, place->entry, 0});
             one != freed().at.end() && one->first[0] == place->stream &&
             one->first[1] == place->entry;
             ++one) {
            if (one->second.given_back) {
                handles.emplace(one->first[2], one->second.handle);
            }
        }
    }
    for (const auto &[which, handle] : handles) {
        add(handle, *place, which);
    }
}

bool FreedHandles::has(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return freed().handles.contains(handle);
}

bool FreedHandles::remove(const cd_log_place &place, uint64_t which) {
    const std::scoped_lock lock(freed_mutex);
    const auto found = freed().at.find({place.stream, place.entry, which});
    if (found == freed().at.end()) {
        return false;
    }
    const bool was_freed = !found->second.given_back;
    freed().set(found->second, true);
    freed().at.erase(found);
    freed_count = freed().at.size();
    return was_freed;
}

} // namespace cd::logger
