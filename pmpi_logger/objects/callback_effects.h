// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace cd::logger {

// Collects what delete functions of attributes do to objects while MPI calls them. That is part of
// the call around them, or of a restore, and is not recorded, but a log may name the objects. What
// they free in a call waits with that call's entry. What they free while a restore undoes changes
// stays, since the re-execution has it again. Belongs to the thread that created it.
class CallbackEffects {
public:
    enum class Of { nothing, call, undo };

    explicit CallbackEffects(Of of) : of_(of), outer_(innermost_) {
        if (of != Of::nothing) {
            innermost_ = this;
        }
    }
    CallbackEffects(const CallbackEffects &) = delete;
    CallbackEffects &operator=(const CallbackEffects &) = delete;
    ~CallbackEffects() { innermost_ = outer_; }

    // Returns nullptr if effects take place at once.
    static CallbackEffects *current() { return innermost_; }
    // Returns true inside a delete function that a restore runs.
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
    Of of_;
    CallbackEffects *outer_;
    std::vector<Effect> effects_;
    [[gnu::tls_model(
        "initial-exec")]] static inline constinit thread_local CallbackEffects *innermost_ =
        nullptr;
};

} // namespace cd::logger
