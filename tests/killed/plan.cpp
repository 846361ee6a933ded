// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "plan.h"

#include "application.h"

#include <algorithm>

namespace killed {

using model::Cd;
using model::Op;
using model::Step;

int Plan::number(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<uint64_t>(to - from + 1));
}

std::vector<Step> added_again(const Cd &cd) {
    std::vector<Step> steps;
    Step functions;
    functions.op = Op::add_regen;
    functions.target.id = cd.id;
    for (int i = 0; i < cells; ++i) {
        const model::Byte &byte = cd.bytes[static_cast<size_t>(i)];
        if (!byte.held || byte.restoration != model::Restoration::regen) {
            continue;
        }
        const int scope = byte.constrained ? CD_CONSTRAINED : CD_GLOBAL;
        std::vector<model::Element> &list = functions.list;
        if (!list.empty() && i != half && list.back().scope == scope &&
            list.back().offset + list.back().length == i) {
            ++list.back().length;
        } else {
            list.push_back({model::Where::arena, i, 1, CD_READ_ONLY, scope});
        }
    }
    functions.count = static_cast<int>(functions.list.size());
    if (functions.count > 0) {
        steps.push_back(functions);
    }
    for (const auto &[slot, record] : cd.files) {
        Step step;
        step.op = Op::add_file;
        step.target.id = cd.id;
        step.slot = slot;
        steps.push_back(step);
    }
    return steps;
}

void Plan::begin_life() {
    has_next_ = false;
    to_begin_with_.clear();
    for (int slot = 0; slot < model::slot_count; ++slot) {
        Step move;
        move.op = Op::seek;
        move.slot = slot;
        move.value = 100 + slot;
        to_begin_with_.push_back(move);
    }
    for (const auto &cd : model_.live()) {
        if (cd->parent == nullptr) {
            Step restore;
            restore.op = Op::restore;
            restore.target.id = cd->id;
            to_begin_with_.push_back(restore);
            const std::vector<Step> added = added_again(*cd);
            to_begin_with_.insert(to_begin_with_.end(), added.begin(), added.end());
        }
    }
}

const Step &Plan::next() {
    while (!has_next_) {
        if (to_begin_with_.empty()) {
            next_ = random_step();
            has_next_ = is_legal(next_);
        } else {
            next_ = to_begin_with_.back();
            to_begin_with_.pop_back();
            has_next_ = true;
        }
    }
    return next_;
}

void Plan::done() {
    note_stored(next_);
    model_.apply(next_);
    if (next_.op == Op::create) {
        note_created(*model_.find(next_.id));
    }
    has_next_ = false;
}

// Returns whether the step takes data away that other CDs need for their own restore.
bool Plan::takes_from_others(const Step &step) const {
    for (const model::Element &element : step.list) {
        for (int i = element.offset; i < element.offset + element.length; ++i) {
            for (const auto &cd : model_.live()) {
                const model::Byte &byte = cd->bytes[static_cast<size_t>(i)];
                if (cd->id != step.target.id && byte.held &&
                    byte.restoration == model::Restoration::parent) {
                    return true;
                }
            }
        }
    }
    return false;
}

bool Plan::is_legal(const Step &step) const {
    if ((step.op == Op::remove || step.op == Op::add_regen) && takes_from_others(step)) {
        return false;
    }
    const model::Verdict verdict = model_.judge(step);
    return !verdict.undefined && verdict.allowed.size() == 1 && verdict.allows(CD_ERROR_NONE);
}

// Elder siblings are stored with it, so that the order of all is known.
void Plan::note_stored(const Cd &cd) {
    if (!stored_.insert(cd.id).second || cd.parent == nullptr) {
        return;
    }
    for (const Cd *sibling : cd.parent->children) {
        if (sibling->sibling < cd.sibling) {
            stored_.insert(sibling->id);
        }
    }
}

void Plan::note_created(const Cd &cd) {
    if (cd.parent == nullptr) {
        return;
    }
    if (std::ranges::any_of(cd.parent->children, [&](const Cd *sibling) {
            return sibling->sibling > cd.sibling && is_stored(*sibling);
        })) {
        note_stored(cd);
    }
}

void Plan::note_stored(const Step &step) {
    switch (step.op) {
    case Op::add_copy:
    case Op::add_parent:
    case Op::add_regen:
    case Op::add_file:
    case Op::delete_file:
    case Op::advance:
        for (const Cd *cd = model_.find(step.target.id); cd != nullptr; cd = cd->parent) {
            note_stored(*cd);
        }
        break;
    case Op::create:
        if (step.target.kind == model::Handle::null) {
            stored_.insert(step.id);
        }
        break;
    default:
        break;
    }
}

Step Plan::random_step() {
    const auto &live = model_.live();
    if (live.empty() || chance(2)) {
        Step step;
        step.op = Op::create;
        step.target.kind = model::Handle::null;
        step.id = ++last_id_;
        step.name = number(1, 2);
        return step;
    }
    if (chance(20)) {
        Step step;
        step.op = Op::write;
        step.offset = number(0, cells - 1);
        step.length = number(1, cells - step.offset);
        step.value = number(0, 255);
        return step;
    }
    const Cd &cd = *live[static_cast<size_t>(number(0, static_cast<int>(live.size()) - 1))];
    return chance(12) ? random_file_step(cd) : random_call(cd);
}

Step Plan::random_call(const Cd &cd) {
    Step step;
    step.target.id = cd.id;
    const int kind = number(1, 100);
    if (kind <= 30) {
        step.op = Op::add_copy;
        step.list = random_ranges();
    } else if (kind <= 38) {
        // A child would have to be made again, with its function, before its root can be restored.
        step.op = cd.parent == nullptr ? Op::add_regen : Op::add_parent;
        step.list = random_ranges();
        for (model::Element &element : step.list) {
            element.access = cd.parent == nullptr ? CD_READ_ONLY : element.access;
        }
    } else if (kind <= 48) {
        step.op = Op::remove;
        step.list = random_ranges();
    } else if (kind <= 68) {
        step.op = Op::advance;
    } else if (kind <= 80) {
        step.op = Op::create;
        step.id = ++last_id_;
        step.logging = COMM_LOGGING_INHERIT;
        // Bounds the number of CDs.
        if (model_.live().size() > 7) {
            step.op = Op::commit;
        }
    } else if (kind <= 95) {
        step.op = Op::commit;
        // Starting from nothing is not to be all that there is.
        if (cd.parent == nullptr && !chance(10)) {
            step.op = Op::advance;
        }
    } else {
        step.op = Op::restore;
    }
    step.count = static_cast<int>(step.list.size());
    return step;
}

Step Plan::random_file_step(const Cd &cd) {
    const Op kinds[] = {Op::seek, Op::add_file, Op::delete_file};
    Step step;
    step.op = kinds[number(0, 2)];
    step.target.id = cd.id;
    step.slot = number(0, model::slot_count - 1);
    step.value = number(0, 99);
    return step;
}

std::vector<model::Element> Plan::random_ranges() {
    std::vector<model::Element> list;
    const int count = number(1, 3);
    for (int i = 0; i < count; ++i) {
        const int begin = chance(50) ? 0 : half;
        model::Element element;
        element.offset = begin + number(0, half - 1);
        element.length = number(1, begin + half - element.offset);
        element.access = chance(70) ? CD_READ_WRITE : CD_READ_ONLY;
        element.scope = chance(10) ? CD_CONSTRAINED : CD_GLOBAL;
        list.push_back(element);
    }
    return list;
}

} // namespace killed
