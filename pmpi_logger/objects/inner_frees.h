// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "objects/undo_list.h"

#include "cd/mpi_log.h"

#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cd::logger {

// Collects what delete functions of attributes do to objects while MPI calls them. That is part of
// the call around them, or of a restore, and is not recorded, but a log may name the objects. What
// they free in a call waits with that call's entry. What they free while a restore undoes changes
// stays, since the re-execution has it again, except objects that they made in the same restore.
// Belongs to the thread that created it.
class InnerCalls {
public:
    enum class Of { nothing, call, undo };

    explicit InnerCalls(Of of) : of_(of), outer_(innermost_) {
        if (of != Of::nothing) {
            innermost_ = this;
        }
    }
    InnerCalls(const InnerCalls &) = delete;
    InnerCalls &operator=(const InnerCalls &) = delete;
    ~InnerCalls() { innermost_ = outer_; }

    // Returns nullptr if effects take place at once.
    static InnerCalls *current() { return innermost_; }
    // Notes that an object was made. take_made() returns true once for each that the restore under
    // way has made.
    static void made(uint64_t handle) {
        if (InnerCalls *const undo = of_undo()) {
            undo->made_.insert(handle);
        }
    }
    static bool take_made(uint64_t handle) {
        InnerCalls *const undo = of_undo();
        return undo != nullptr && take_one(undo->made_, handle);
    }

    // The same for a further handle of an object that may be older.
    static void referred_to(uint64_t handle) {
        if (InnerCalls *const undo = of_undo()) {
            undo->references_.insert(handle);
        }
    }
    static bool take_reference(uint64_t handle) {
        InnerCalls *const undo = of_undo();
        return undo != nullptr && take_one(undo->references_, handle);
    }
    // The same for a new attribute.
    static void made(const Part &attribute) {
        if (InnerCalls *const undo = of_undo()) {
            undo->made_attributes_.insert(attribute);
        }
    }
    static bool take_made(const Part &attribute) {
        InnerCalls *const undo = of_undo();
        return undo != nullptr && undo->made_attributes_.erase(attribute) != 0;
    }

    static bool are_of_undo() { return innermost_ != nullptr && innermost_->of_ == Of::undo; }

    struct Entry {
        cd_log_place place;
        bool again;     // it was read: the first execution has noted the same
        uint64_t which; // of those in the call
    };
    using Effect = std::function<void(const Entry &)>;
    // Keeps an effect until settle().
    void add(Effect effect) { effects_.push_back(std::move(effect)); }

    // Runs the effects for the entry of the call, or hands them to the call around it.
    void settle(const cd_log_place &place, bool again) {
        if (outer_ != nullptr) { // part of another call
            outer_->effects_.insert(outer_->effects_.end(),
                                    std::make_move_iterator(effects_.begin()),
                                    std::make_move_iterator(effects_.end()));
            return;
        }
        uint64_t which = 0;
        for (const Effect &effect : effects_) {
            effect({place, again, ++which});
        }
    }

private:
    using Handles = std::unordered_multiset<uint64_t>;

    static bool take_one(Handles &handles, uint64_t handle) {
        const auto found = handles.find(handle);
        const bool is_there = found != handles.end();
        if (is_there) {
            handles.erase(found);
        }
        return is_there;
    }

    static InnerCalls *of_undo() {
        InnerCalls *calls = innermost_;
        while (calls != nullptr && calls->of_ != Of::undo) {
            calls = calls->outer_;
        }
        return calls;
    }

    Of of_;
    InnerCalls *outer_;
    std::vector<Effect> effects_;
    Handles made_;
    Handles references_;
    std::set<Part> made_attributes_;
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local InnerCalls *innermost_ =
        nullptr;
};

} // namespace cd::logger
