// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "model.h"
#include "stored.h"

#include <vector>

namespace crash {

// What has to be in the store after each step of a program: what the model says, and the older
// points in time, which it does not know.
class Truth {
public:
    explicit Truth(int keep) : keep_(keep) {}
    Truth(const Truth &other);
    Truth &operator=(const Truth &other);

    // The step was done and succeeded.
    void apply(const model::Step &step);

    // A new store takes the place of the one before.
    void forget_all();

    const model::Model &model() const { return model_; }
    const model::Cd *root() const;
    Stored stored() const;

private:
    int keep_;
    model::Model model_;
    std::vector<model::Step> steps_;
    std::deque<StoredContents> versions_;
};

} // namespace crash
