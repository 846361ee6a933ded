// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "model.h"

#include <random>
#include <set>

namespace killed {

// What a program does, as far as it is known. A process that is forked has a copy of its own, and
// goes on with the same steps.
class Plan {
public:
    explicit Plan(uint64_t seed) : random_(seed) {}

    const model::Model &model() const { return model_; }

    // A new process begins: to each root that there is it gives what no store has, functions and
    // descriptors, restores it, and moves its files; then it does random steps.
    void begin_life();

    // The next step; the same until it is done.
    const model::Step &next();
    void done();

    // Whether a store knows of the CD: it does not of one that neither added anything nor
    // advanced, nor has a descendant or sibling with a greater index that did.
    bool is_stored(const model::Cd &cd) const { return stored_.contains(cd.id); }

private:
    model::Step random_step();
    model::Step random_call(const model::Cd &cd);
    std::vector<model::Element> random_ranges();
    model::Step random_file_step(const model::Cd &cd);
    bool takes_from_others(const model::Step &step) const;
    bool is_legal(const model::Step &step) const;
    void note_stored(const model::Step &step);
    void note_stored(const model::Cd &cd);
    void note_created(const model::Cd &cd);
    int number(int from, int to); // both included
    bool chance(int percent) { return number(1, 100) <= percent; }

    model::Model model_;
    std::mt19937_64 random_;
    std::vector<model::Step> to_begin_with_; // the last first
    std::set<int> stored_;
    model::Step next_;
    bool has_next_ = false;
    int last_id_ = 0;
};

// Returns the adds for a CD that was found in a store; the model has made them already.
std::vector<model::Step> added_again(const model::Cd &cd);

} // namespace killed
