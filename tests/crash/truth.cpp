// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "truth.h"

namespace crash {

// A model cannot be copied, but be made again.
Truth::Truth(const Truth &other) : keep_(other.keep_) {
    for (const model::Step &step : other.steps_) {
        apply(step);
    }
}

Truth &Truth::operator=(const Truth &other) {
    const std::vector<model::Step> steps = other.steps_;
    forget_all();
    keep_ = other.keep_;
    for (const model::Step &step : steps) {
        apply(step);
    }
    return *this;
}

void Truth::apply(const model::Step &step) {
    const model::Cd *changed = root();
    const bool of_root = changed != nullptr && step.target.id == changed->id;
    if (of_root && step.op == model::Op::advance) {
        versions_.push_back(stored_in(model_).cds.at({}));
        while (versions_.size() >= static_cast<size_t>(keep_)) {
            versions_.pop_front();
        }
    } else if (of_root && step.op == model::Op::commit) {
        versions_.clear();
    }
    model_.apply(step);
    steps_.push_back(step);
}

void Truth::forget_all() {
    model_ = model::Model();
    steps_.clear();
    versions_.clear();
}

const model::Cd *Truth::root() const {
    return model_.live().empty() ? nullptr : model_.live().front().get();
}

Stored Truth::stored() const {
    Stored stored = stored_in(model_);
    stored.versions = versions_;
    return stored;
}

} // namespace crash
