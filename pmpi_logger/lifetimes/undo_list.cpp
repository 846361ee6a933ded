// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lifetimes/undo_list.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cd::logger {

void UndoList::add(const cd_log_place &place, Undo undo) {
    Laters dropped; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    const InLog part = {undo.part, place.stream};
    later_.push_back({place, std::move(undo)});
    if (part.part != Part()) {
        drop_useless(part, dropped);
        parts_.emplace(part, std::prev(later_.end()));
        count_ = parts_.size();
    }
}

// The newest was for a CD that could go back to between it and the one before it, and which has
// ended or advanced since.
void UndoList::drop_useless(const InLog &part, Laters &dropped) {
    const auto [first, last] = parts_.equal_range(part);
    if (first == last) {
        return;
    }
    for (auto newest = std::prev(last); newest != first;) {
        const auto before = std::prev(newest);
        if (newest->second->is_taken || before->second->is_taken ||
            cd_log_parts(&before->second->place, &newest->second->place) != 0) {
            return;
        }
        dropped.splice(dropped.end(), later_, newest->second);
        erase(newest);
        newest = before;
    }
}

bool UndoList::undoes(const Part &part) {
    cd_log_place here = {};
    if (count_.load(std::memory_order_relaxed) == 0 || cd_log_here(&here) == 0) {
        return false;
    }
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = parts_.equal_range({part, here.stream});
    return first != last && cd_log_covers(CD_CURRENT_CD, &std::prev(last)->second->place) != 0;
}

std::vector<UndoList::Change> UndoList::object_goes(uint64_t handle) {
    std::vector<Change> gone;
    if (count_.load(std::memory_order_relaxed) == 0) {
        return gone;
    }
    const std::scoped_lock lock(mutex_);
    for (auto next = parts_.lower_bound({{handle, 0}, 0});
         next != parts_.end() && next->first.part.object == handle;) {
        const auto later = next->second;
        next = erase(next);
        if (later->is_taken && !later->undo.if_gone) {
            later->undo.action = nullptr;
            continue;
        }
        gone.push_back({later->place, later->undo});
        if (later->undo.if_gone) {
            later->undo.part = {};
            later->undo.action = [gone = std::move(later->undo.if_gone), place = later->place] {
                gone(place);
            };
        } else {
            later_.erase(later); // gone has what it refers to
        }
    }
    return gone;
}

void UndoList::put_back(std::vector<Change> &&changes) {
    const std::scoped_lock lock(mutex_);
    for (Change &change : changes) {
        const InLog part = {change.undo.part, change.place.stream};
        later_.push_back({change.place, std::move(change.undo)});
        parts_.emplace(part, std::prev(later_.end()));
    }
    count_ = parts_.size();
}

void UndoList::run(const Wanted &wanted) {
    Laters taken;
    {
        const std::scoped_lock lock(mutex_);
        take(wanted, taken);
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

void UndoList::forget(const Wanted &wanted) {
    Laters forgotten; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    take(wanted, forgotten);
    for (auto later = forgotten.begin(); later != forgotten.end(); ++later) {
        remove_part(later);
    }
}

void UndoList::take(const Wanted &wanted, Laters &taken) {
    for (auto next = later_.begin(); next != later_.end();) {
        const auto later = next++;
        if (wanted(later->place)) {
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
