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
    const bool is_part = part.part != Part();
    const std::vector<cd_log_place> useless = is_part ? useless_of(part) : decltype(useless)();
    Laters dropped; // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    drop(part, useless, dropped);
    later_.push_back({place, std::move(undo)});
    if (is_part) {
        parts_.emplace(part, std::prev(later_.end()));
        count_ = parts_.size();
    }
}

std::vector<cd_log_place> UndoList::places_of(const InLog &part) {
    std::vector<cd_log_place> places;
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = parts_.equal_range(part);
    for (auto at = first; at != last; ++at) {
        if (at->second->is_taken) {
            places.clear();
        } else {
            places.push_back(at->second->place);
        }
    }
    return places;
}

// The newest change was kept for a CD between it and the one before. That CD has ended or advanced.
std::vector<cd_log_place> UndoList::useless_of(const InLog &part) {
    std::vector<cd_log_place> places = places_of(part);
    size_t needed = places.size();
    while (needed > 1 && cd_log_parts(&places[needed - 2], &places[needed - 1]) == 0) {
        --needed;
    }
    places.erase(places.begin(), places.begin() + static_cast<ptrdiff_t>(needed));
    return places;
}

// Drops those that are still the newest. Another thread may have taken some meanwhile.
void UndoList::drop(const InLog &part, const std::vector<cd_log_place> &useless, Laters &dropped) {
    auto [first, last] = parts_.equal_range(part);
    for (auto place = useless.rbegin(); place != useless.rend() && first != last; ++place) {
        const auto newest = std::prev(last);
        const auto later = newest->second;
        if (later->is_taken || later->place.entry != place->entry) {
            return;
        }
        const bool only = newest == first;
        last = erase(newest);
        first = only ? last : first;
        dropped.splice(dropped.end(), later_, later);
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

std::vector<UndoList::Change> UndoList::object_goes(uint64_t handle, int owner) {
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
            later->undo.action = [gone = std::move(later->undo.if_gone), place = later->place,
                                  owner] { gone(place, owner); };
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
