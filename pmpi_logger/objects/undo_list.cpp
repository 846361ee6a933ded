// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/undo_list.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace cd::logger {

void UndoList::add(const cd_log_place &place, Undo undo) {
    const InLog part = {undo.part, place.stream};
    const std::scoped_lock lock(mutex_);
    later_.push_back({place, std::move(undo)});
    if (part.part != Part()) {
        parts_.emplace(part, std::prev(later_.end()));
        count_ = parts_.size();
    }
}

bool UndoList::undoes(const Part &part) {
    cd_log_place here = {};
    if (count_.load(std::memory_order_relaxed) == 0 || cd_log_here(&here) == 0) {
        return false;
    }
    cd_log_place newest = {};
    {
        const std::scoped_lock lock(mutex_);
        const auto [first, last] = parts_.equal_range({part, here.stream});
        if (first == last) {
            return false;
        }
        newest = std::prev(last)->second->place;
    }
    return cd_log_covers(CD_CURRENT_CD, &newest) != 0;
}

bool UndoList::is_about_to_undo(const Part &part) {
    const std::scoped_lock lock(mutex_);
    for (auto next = parts_.lower_bound({part, 0});
         next != parts_.end() && next->first.part == part; ++next) {
        if (next->second->is_taken) {
            return true;
        }
    }
    return false;
}

void UndoList::object_goes(uint64_t handle) {
    if (count_.load(std::memory_order_relaxed) == 0) {
        return;
    }
    Laters gone; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    for (auto next = parts_.lower_bound({{handle, 0}, 0});
         next != parts_.end() && next->first.part.object == handle;) {
        const auto later = next->second;
        next = erase(next);
        if (later->is_taken) {
            later->undo.action = nullptr;
        } else {
            gone.splice(gone.end(), later_, later);
        }
    }
}

void UndoList::run(Moment now, const Wanted &wanted) {
    Laters taken;
    {
        const std::scoped_lock lock(mutex_);
        take(now, wanted, taken);
        leave_to_older(taken);
    }
    while (!taken.empty()) {
        std::function<void()> action;
        {
            const std::scoped_lock lock(mutex_);
            const auto latest = std::prev(taken.end());
            remove_part(latest);
            action = std::move(latest->undo.action);
            taken.erase(latest);
        }
        if (action) {
            action();
        }
    }
}

// Keeps only the oldest undo of each part. A later one would bring back what the program has given
// up, such as an attribute whose delete function was called.
void UndoList::leave_to_older(Laters &taken) {
    std::set<Part> known;
    for (Later &later : taken) {
        if (later.undo.part != Part() && !known.insert(later.undo.part).second) {
            later.undo.action = nullptr;
        }
    }
}

void UndoList::forget(Moment now, const Wanted &wanted) {
    Laters forgotten; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    take(now, wanted, forgotten);
    for (auto later = forgotten.begin(); later != forgotten.end(); ++later) {
        remove_part(later);
    }
}

void UndoList::take(Moment now, const Wanted &wanted, Laters &taken) {
    for (auto next = later_.begin(); next != later_.end();) {
        const auto later = next++;
        if (later->added < now && wanted(later->place)) {
            later->is_taken = true;
            taken.splice(taken.end(), later_, later);
        }
    }
}

void UndoList::remove_part(Laters::iterator later) {
    const auto [first, last] = parts_.equal_range({later->undo.part, later->place.stream});
    const auto found =
        std::find_if(first, last, [later](const auto &known) { return known.second == later; });
    if (found != last) {
        erase(found);
    }
}

UndoList::Parts::iterator UndoList::erase(Parts::iterator part) {
    const auto next = parts_.erase(part);
    count_ = parts_.size();
    return next;
}

} // namespace cd::logger
