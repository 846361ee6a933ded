// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "step.h"

#include "cd/cd.h"

#include <initializer_list>
#include <vector>

// Short ways to write steps.
namespace crash {

inline model::Element bytes(int offset, int length, int access, int scope = CD_GLOBAL) {
    return {model::Where::arena, offset, length, access, scope};
}

inline model::Step of_cd(model::Op op, int cd, std::vector<model::Element> list = {}) {
    model::Step step;
    step.op = op;
    step.target.id = cd;
    step.count = static_cast<int>(list.size());
    step.list = std::move(list);
    return step;
}

inline model::Step write(int offset, int length, int value) {
    model::Step step;
    step.op = model::Op::write;
    step.offset = offset;
    step.length = length;
    step.value = value;
    return step;
}

// The name is the same for all, since there is one at a time.
inline model::Step root(int id) {
    model::Step step;
    step.op = model::Op::create;
    step.target.kind = model::Handle::null;
    step.id = id;
    step.name = 1;
    step.logging = CD_COMM_LOGGING_DISABLED;
    return step;
}
inline model::Step child(int parent, int id) {
    model::Step step = of_cd(model::Op::create, parent);
    step.id = id;
    step.logging = CD_COMM_LOGGING_INHERIT;
    return step;
}

inline model::Step add(int cd, std::vector<model::Element> list) {
    return of_cd(model::Op::add_copy, cd, std::move(list));
}
inline model::Step add_parent(int cd, std::vector<model::Element> list) {
    return of_cd(model::Op::add_parent, cd, std::move(list));
}
// There is one function, and it regenerates what the CD does not write.
inline model::Step add_regen(int cd, std::vector<model::Element> list) {
    return of_cd(model::Op::add_regen, cd, std::move(list));
}
inline model::Step of_file(model::Op op, int cd, int slot) {
    model::Step step = of_cd(op, cd);
    step.slot = slot;
    return step;
}
inline model::Step add_file(int cd, int slot) { return of_file(model::Op::add_file, cd, slot); }
inline model::Step delete_file(int cd, int slot) {
    return of_file(model::Op::delete_file, cd, slot);
}
inline model::Step seek(int slot, int position) {
    model::Step step = of_file(model::Op::seek, 0, slot);
    step.value = position;
    return step;
}
inline model::Step remove(int cd, std::vector<model::Element> list) {
    return of_cd(model::Op::remove, cd, std::move(list));
}
inline model::Step advance(int cd) { return of_cd(model::Op::advance, cd); }
inline model::Step commit(int cd) { return of_cd(model::Op::commit, cd); }
inline model::Step restore(int cd) { return of_cd(model::Op::restore, cd); }

// Every operation that a store has, the root being 1.
std::vector<model::Step> every_operation();

// Small ones, until the journal has begun again.
std::vector<model::Step> until_the_journal_is_full();

} // namespace crash
