// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "generator.h"

#include "script.h"

#include <algorithm>

namespace crash {

model::Step Generator::next(const Truth &truth) {
    while (true) {
        const model::Step step = propose(truth);
        const model::Verdict verdict = truth.model().judge(step);
        if (!verdict.undefined && verdict.allowed == std::vector{CD_ERROR_NONE}) {
            next_id_ += step.op == model::Op::create ? 1 : 0;
            return step;
        }
    }
}

model::Step Generator::propose(const Truth &truth) {
    if (truth.root() == nullptr) {
        return root(next_id_);
    }
    if (dice_.one_in(24)) {
        return dice_.one_in(3) ? seek(slot(), dice_.between(0, 99)) : of_file(truth);
    }
    return dice_.one_in(4) ? write() : on_a_cd(truth);
}

model::Step Generator::on_a_cd(const Truth &truth) {
    const auto &live = truth.model().live();
    const model::Cd &cd = *live[dice_.below(live.size())];
    switch (dice_.below(16)) {
    case 0:
        return remove(cd.id, held(cd));
    case 1:
        return dice_.one_in(3) ? add_regen(cd.id, read_only(elements()))
                               : add_parent(cd.id, elements());
    case 2:
    case 3:
        return live.size() < 6 ? child(cd.id, next_id_) : commit(cd.id);
    case 4:
    case 5:
        return cd.parent == nullptr && !dice_.one_in(8) ? advance(cd.id) : commit(cd.id);
    case 6:
        return dice_.one_in(3) ? restore(cd.id) : advance(cd.id);
    case 7:
    case 8:
    case 9:
        return advance(cd.id);
    default:
        return add(cd.id, elements());
    }
}

model::Step Generator::of_file(const Truth &truth) {
    const auto &live = truth.model().live();
    const int cd = live[dice_.below(live.size())]->id;
    return dice_.one_in(3) ? delete_file(cd, slot()) : add_file(cd, slot());
}

int Generator::slot() { return dice_.between(0, model::slot_count - 1); }

model::Step Generator::write() {
    const int offset = dice_.between(0, model::arena_size - 1);
    const int length = dice_.between(1, std::min(60, model::arena_size - offset));
    return crash::write(offset, length, dice_.between(0, 255));
}

std::vector<model::Element> Generator::elements() {
    std::vector<model::Element> list;
    for (int count = dice_.between(1, 3); count > 0; --count) {
        const int offset = dice_.between(0, model::arena_size - 1);
        const int most = dice_.one_in(8) ? 100 : 6;
        list.push_back(bytes(offset, dice_.between(1, std::min(most, model::arena_size - offset)),
                             dice_.one_in(3) ? CD_READ_ONLY : CD_READ_WRITE,
                             dice_.one_in(10) ? CD_CONSTRAINED : CD_GLOBAL));
    }
    return list;
}

// What a function regenerates is never anything else.
std::vector<model::Element> Generator::read_only(std::vector<model::Element> list) {
    for (model::Element &element : list) {
        element.access = CD_READ_ONLY;
    }
    return list;
}

// Some bytes that the CD has.
std::vector<model::Element> Generator::held(const model::Cd &cd) {
    int begin = dice_.between(0, model::arena_size - 1);
    while (begin < model::arena_size && !cd.bytes[static_cast<size_t>(begin)].held) {
        ++begin;
    }
    int end = begin;
    const int most = std::min(model::arena_size, begin + dice_.between(1, 10));
    while (end < most && cd.bytes[static_cast<size_t>(end)].held) {
        ++end;
    }
    return {bytes(std::min(begin, model::arena_size - 1), end - begin, CD_READ_ONLY)};
}

} // namespace crash
