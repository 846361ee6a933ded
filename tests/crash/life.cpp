// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "life.h"

#include "arena.h"
#include "script.h"

#include <utility>

namespace crash {
namespace {

constexpr int first_root = 1;

} // namespace

Life::Life(const StoreKind &kind, const Disk &start, const Truth &truth, std::vector<Stored> maybe)
    : kind_(kind), disk_(start), system_(disk_), start_(truth), truth_(truth),
      process_(std::in_place, system_, kind.storage()) {
    arena.set_block(kind.block);
    system_.set_direct(kind.direct);
    if (kind.tight) {
        system_.let_files_grow_by((1 << 20) - 1);
    }
    recording_.start = start;
    recording_.before = std::move(maybe);
    recording_.before.insert(recording_.before.begin(), truth.stored());
}

std::string Life::begin_anew() { return begin_empty("create_cd"); }

std::string Life::begin_afresh() {
    system_.set_restart("no");
    std::string wrong = begin_empty("create_cd with CD_RESTART=no");
    system_.set_restart(nullptr);
    return wrong;
}

std::string Life::begin_empty(const char *what) {
    first_ = First::is_empty;
    start_.forget_all();
    truth_.forget_all();
    Expectation expectation = {what, recording_.before, {nothing_stored()}};
    expectation.during.push_back(nothing_stored());
    const model::Step create = root(first_root);
    if (std::string wrong = record(create, std::move(expectation)); !wrong.empty()) {
        return wrong;
    }
    truth_.apply(create);
    return take(write_all(1));
}

std::string Life::begin_at(size_t version) {
    const Stored newest = truth_.stored();
    Stored old = nothing_stored();
    old.cds[{}] = newest.versions[version];
    old.versions.assign(newest.versions.begin(),
                        newest.versions.begin() + static_cast<ptrdiff_t>(version));
    first_ = First::goes_back;
    const int id = truth_.root()->id;
    const std::string epoch = std::to_string(old.cds[{}].epoch);
    system_.set_restart(epoch.c_str());
    std::string wrong =
        record(root(id), {"create_cd with CD_RESTART=" + epoch, {newest}, {newest}});
    system_.set_restart(nullptr);
    if (wrong.empty()) {
        wrong = record(restore(id), {"the restore", {newest}, {newest}});
    }
    if (!wrong.empty()) {
        return wrong;
    }
    // The first change discards newer points in time.
    const Stored advanced = after_an_advance(old, kind_.keep);
    return record(advance(id), {"the first advance", {newest, old, advanced}, {advanced}});
}

// No step of the model: it goes on where it was.
std::string Life::begin_restarted() {
    const model::Step create = root(truth_.root()->id);
    Expectation expectation = {"create_cd of a stored root", recording_.before, {truth_.stored()}};
    first_ = First::restarts;
    if (std::string wrong = record(create, std::move(expectation)); !wrong.empty()) {
        return wrong;
    }
    if (!process_->has_restarted(truth_.root()->id)) {
        return "create_cd has not found the stored root";
    }
    taken_.back() = write_all(1); // what it is to the model
    truth_.apply(taken_.back());
    process_->take(taken_.back());
    std::vector<model::Step> steps = added_again(*truth_.root());
    steps.push_back(restore(truth_.root()->id));
    const std::vector<model::Step> seeks = seek_all();
    steps.insert(steps.end(), seeks.begin(), seeks.end());
    for (const model::Step &step : steps) {
        if (std::string wrong = take(step); !wrong.empty()) {
            return wrong;
        }
    }
    return "";
}

std::string Life::take(const model::Step &step) {
    Expectation expectation = {model::describe(step), {truth_.stored()}, {}};
    truth_.apply(step);
    expectation.during.push_back(truth_.stored());
    expectation.after.push_back(truth_.stored());
    if (std::string wrong = record(step, std::move(expectation)); !wrong.empty()) {
        return wrong;
    }
    return step.op == model::Op::restore ? Process::check_memory(truth_.model()) : "";
}

std::string Life::record(const model::Step &step, Expectation expectation) {
    std::string what = expectation.what;
    recording_.steps.push_back(std::move(expectation));
    taken_.push_back(step);
    mark(Event::Kind::begin);
    const cd_error error = process_->take(step);
    const std::string message = cd_last_error_message();
    mark(Event::Kind::end);
    return error == CD_ERROR_NONE ? "" : what + ": " + message;
}

void Life::mark(Event::Kind kind) {
    Event event;
    event.kind = kind;
    event.step = recording_.steps.size() - 1;
    system_.tape().push_back(std::move(event));
}

const Recording &Life::end() {
    process_.reset();
    recording_.tape = system_.tape();
    return recording_;
}

bool Life::knows(const Found &found) const {
    return found.step > 0 || found.over || (first_ == First::restarts && found.match == 0);
}

Truth Life::truth_of(const Found &found) const {
    const bool done = found.over || found.match == 1;
    const size_t steps = found.step + (done ? 1 : 0);
    Truth truth = start_;
    for (size_t i = 0; i < steps; ++i) {
        truth.apply(taken_[i]);
    }
    return truth;
}

} // namespace crash
