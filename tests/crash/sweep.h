// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "dice.h"
#include "recording.h"
#include "states.h"

#include <functional>
#include <string>

namespace crash {

// The content that was found after one crash.
struct Found {
    size_t step = 0; // under way, or the last that was over
    bool over = false;
    size_t match = 0; // which of the states that were allowed
};

// Lets a recording happen again, cuts the disk off after each call that changed something, and
// looks at what is found then.
class Sweep {
public:
    Sweep(const StoreKind &kind, const Effort &effort, Dice &dice)
        : kind_(kind), effort_(effort), dice_(dice) {}

    // "" or the first state that is wrong.
    std::string run(const Recording &recording);

    // The disk at one moment of the recording, and what is found of it when it is cut off there:
    // of what was not forced, parts. Is that one to go on from? True ends the sweep.
    using GoOn = std::function<bool(const Disk &disk, const Parts &parts, const Found &found)>;
    void set_go_on(GoOn go_on) { go_on_ = std::move(go_on); }

    size_t states() const { return states_; }

    // The last step during which a crash leaves more states than were looked at.
    size_t last_sampled_step() const { return last_sampled_step_; }

private:
    bool look(const Recording &recording, const Disk &disk, size_t newest);
    bool look_at(const Recording &recording, const Disk &disk, const Parts &parts);

    const StoreKind &kind_;
    const Effort &effort_;
    Dice &dice_;
    GoOn go_on_;
    Found now_;
    size_t event_ = 0;
    size_t states_ = 0;
    size_t last_sampled_step_ = 0;
    std::string wrong_;
    bool ended_ = false;
};

} // namespace crash
