// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace cd {

// In which order the CDs that follow each other at one place of a log made their children: each of
// which kind, and where the CD ended. As a log it is read from the cursor on, which is at the end
// except in a re-execution.
//
// Not locked.
class ChildOrder {
public:
    enum class Event : uint8_t {
        home,      // a child that the thread made that is the parent's home
        elsewhere, // one that another thread made
        end,       // the parent ended
        unknown,   // a re-execution did something else: what comes here cannot be told
    };

    // What comes at the cursor. None at the end: a CD may have given up, so its end is one.
    std::optional<Event> next() const;

    // For a child, and for the end of its parent. May throw std::bad_alloc.
    void reserve_room();

    // It has happened, as at the cursor or as something new. Needs room. live: nothing is left to
    // be replayed, so what is known of later ones is of no use.
    void take(Event event, bool live) noexcept;

    // Nothing is left to be replayed: what could not be told is over.
    void settle() noexcept;

    // Whether the last child was made by the home or by another thread cannot be told. beside: a
    // child of a third one was alive, so the order of the two may have been chance.
    void mark_untold(bool beside) noexcept;
    // Of those that come after place it has turned out.
    void tell_from(uint64_t place) noexcept { untold_until_ = std::min(untold_until_, place); }
    uint64_t untold_until() const { return untold_until_; }
    // How far from the cursor the last untold one is, also if a re-execution did others instead.
    uint64_t untold_ahead() const { return untold_until_ > cursor_ ? untold_until_ - cursor_ : 0; }
    // Whether one may be at the cursor.
    bool untold_next() const { return untold_from_ <= cursor_ && cursor_ < untold_until_; }
    bool untold_beside() const { return untold_beside_; }

    // Children of both kinds were alive at the same time: their order was chance.
    void mark_beside() noexcept { beside_ = true; }
    bool beside() const { return beside_; }

    uint64_t cursor() const { return cursor_; }
    uint64_t end() const { return runs_.empty() ? dropped_ : runs_.back().until; }
    void set_cursor(uint64_t cursor) noexcept;
    void trim() noexcept; // what lies before the cursor

private:
    struct Run {
        Event event;
        uint64_t until; // counted as the cursor is
    };

    std::optional<Event> at_cursor() const;
    bool is_last_end() const;
    void give_up() noexcept;
    void forget_rest() noexcept; // from the cursor on
    void append(Event event) noexcept;

    std::vector<Run> runs_;
    uint64_t dropped_ = 0;
    uint64_t cursor_ = 0;
    uint64_t untold_from_ = 0; // where the first untold child is
    uint64_t untold_until_ = 0;
    bool untold_beside_ = false;
    bool beside_ = false;
    bool lost_ = false; // what is done now is not at the cursor, and nowhere else
};

} // namespace cd
