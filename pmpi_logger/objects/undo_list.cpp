// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/undo_list.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace cd::logger {

void UndoList::add(const cd_log_place &place, Undo undo) {
    const std::scoped_lock lock(mutex_);
    later_.push_back({place, std::move(undo)});
}

bool UndoList::undoes(const Part &part) {
    cd_log_place here = {};
    if (cd_log_here(&here) == 0) {
        return false;
    }
    cd_log_place newest = {};
    {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(later_.rbegin(), later_.rend(), [&](const Later &later) {
            return later.undo.part == part && later.place.stream == here.stream;
        });
        if (found == later_.rend()) {
            return false;
        }
        newest = found->place;
    }
    return cd_log_covers(CD_CURRENT_CD, &newest) != 0;
}

bool UndoList::is_about_to_undo(const Part &part) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(
        later_, [&](const Later &later) { return later.taken != 0 && later.undo.part == part; });
}

void UndoList::forget_object(uint64_t handle) {
    std::list<Later> gone; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    for (auto next = later_.begin(); next != later_.end();) {
        const auto later = next++;
        const Part &part = later->undo.part;
        if (part != Part() && part.object == handle) {
            gone.splice(gone.end(), later_, later);
        }
    }
}

void UndoList::run(Moment now, const Wanted &wanted) {
    const Moment own = next_moment();
    {
        // A later undo of a part would bring back what the program has given up, such as an
        // attribute whose delete function was called.
        const std::scoped_lock lock(mutex_);
        std::set<Part> known;
        for (Later &later : later_) {
            if (later.taken != 0 || later.added >= now || !wanted(later.place)) {
                continue;
            }
            later.taken = own;
            if (later.undo.part != Part() && !known.insert(later.undo.part).second) {
                later.undo.action = nullptr;
            }
        }
    }
    for (;;) {
        std::function<void()> action;
        {
            const std::scoped_lock lock(mutex_);
            const auto latest =
                std::find_if(later_.rbegin(), later_.rend(),
                             [own](const Later &later) { return later.taken == own; });
            if (latest == later_.rend()) {
                return;
            }
            action = std::move(latest->undo.action);
            later_.erase(std::prev(latest.base()));
        }
        if (action) {
            action();
        }
    }
}

void UndoList::forget(Moment now, const Wanted &wanted) {
    std::list<Later> forgotten; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    for (auto next = later_.begin(); next != later_.end();) {
        const auto later = next++;
        if (later->taken == 0 && later->added < now && wanted(later->place)) {
            forgotten.splice(forgotten.end(), later_, later);
        }
    }
}

} // namespace cd::logger
