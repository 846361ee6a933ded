// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/child_order.h"

#include <algorithm>
#include <iterator>

namespace cd {

std::optional<ChildOrder::Event> ChildOrder::next() const {
    const std::optional<Event> known = at_cursor();
    return known == Event::end && is_last_end() ? std::nullopt : known;
}

std::optional<ChildOrder::Event> ChildOrder::at_cursor() const {
    if (lost_) {
        return Event::unknown;
    }
    const auto run = std::ranges::upper_bound(runs_, cursor_, {}, &Run::until);
    return run != runs_.end() ? std::optional(run->event) : std::nullopt;
}

// Whether nothing is known behind the end of the CD that is at the cursor.
bool ChildOrder::is_last_end() const {
    const uint64_t known = end() - (runs_.back().event == Event::unknown ? 1 : 0);
    return cursor_ + 1 == known;
}

void ChildOrder::reserve_room() {
    constexpr size_t for_child_and_end = 2;
    if (const size_t needed = runs_.size() + for_child_and_end; runs_.capacity() < needed) {
        runs_.reserve(2 * needed);
    }
}

void ChildOrder::take(Event event, bool live) noexcept {
    const std::optional<Event> known = at_cursor();
    if (known == event) {
        ++cursor_;
    } else if (known && event == Event::end) {
        give_up();
    } else if (live || !next()) {
        settle();
        forget_rest();
        tell_from(cursor_);
        append(event);
        cursor_ = end();
    } else if (!lost_) {
        forget_rest();
        append(Event::unknown);
    }
}

void ChildOrder::mark_untold(bool beside) noexcept {
    if (untold_until_ <= std::max(untold_from_, dropped_)) {
        untold_from_ = end() - 1;
        untold_beside_ = false;
    }
    untold_until_ = end();
    untold_beside_ = untold_beside_ || beside;
}

// The CD has ended before it did what it had done before. That stays known, for a restore of an
// older one, but not what comes now.
void ChildOrder::give_up() noexcept {
    lost_ = true;
    if (runs_.back().event != Event::unknown) {
        append(Event::unknown);
    }
}

void ChildOrder::settle() noexcept {
    if (lost_) {
        set_cursor(end());
    } else if (at_cursor() == Event::unknown) {
        forget_rest();
    }
}

void ChildOrder::forget_rest() noexcept {
    auto run = std::ranges::upper_bound(runs_, cursor_, {}, &Run::until);
    if (run == runs_.end()) {
        return;
    }
    const uint64_t begin = run == runs_.begin() ? dropped_ : std::prev(run)->until;
    if (begin < cursor_) {
        run->until = cursor_;
        ++run;
    }
    runs_.erase(run, runs_.end());
}

void ChildOrder::append(Event event) noexcept {
    const uint64_t until = end() + 1;
    if (!runs_.empty() && runs_.back().event == event) {
        runs_.back().until = until;
    } else {
        runs_.push_back({event, until});
    }
}

void ChildOrder::set_cursor(uint64_t cursor) noexcept {
    cursor_ = std::clamp(cursor, dropped_, end());
    lost_ = false;
}

void ChildOrder::trim() noexcept {
    runs_.erase(runs_.begin(), std::ranges::upper_bound(runs_, cursor_, {}, &Run::until));
    dropped_ = cursor_;
    beside_ = beside_ && !runs_.empty();
}

} // namespace cd
