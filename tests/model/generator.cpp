// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "generator.h"

#include "model.h"

#include <algorithm>
#include <random>

namespace model {
namespace {

constexpr int most_live = 12;
constexpr int deepest = 5; // roots are at depth 0, so CDs are nested six deep
constexpr int bad_enum = 7;

// Runs a model along with the program it writes, so as to know which calls make sense.
class Generator {
public:
    explicit Generator(uint64_t seed) : random_(seed) {}

    std::vector<Step> run(int length) {
        std::vector<Step> program;
        while (static_cast<int>(program.size()) < length) {
            const Step step = make_step();
            const Verdict verdict = model_.judge(step);
            if (verdict.undefined) {
                continue;
            }
            if (verdict.allows(CD_ERROR_NONE)) {
                model_.apply(step);
            }
            program.push_back(step);
        }
        return program;
    }

private:
    // Not std::uniform_int_distribution: its results differ between standard libraries.
    int below(int bound) { return static_cast<int>(random_() % static_cast<uint64_t>(bound)); }
    bool chance(int percent) { return below(100) < percent; }

    Step make_step() {
        Step step;
        step.op = make_op();
        if (step.op == Op::create) {
            make_create(step);
            return step;
        }
        step.target = make_target();
        switch (step.op) {
        case Op::write:
            step.offset = below(chance(20) ? state_size : arena_size);
            step.length = std::min(below(24), arena_size - step.offset);
            step.value = below(256);
            break;
        case Op::seek:
            step.slot = below(slot_count);
            step.value = below(5000);
            break;
        case Op::close:
            step.slot = below(slot_count);
            break;
        case Op::open:
            step.slot = below(slot_count);
            step.file = chance(80) ? step.slot : below(file_count);
            break;
        case Op::restore:
            if (chance(25)) {
                step.failure = chance(50) ? RegenFailure::returns : RegenFailure::throws;
            }
            break;
        case Op::add_copy:
        case Op::add_parent:
        case Op::add_regen:
        case Op::remove:
            make_list(step);
            break;
        case Op::add_file:
        case Op::delete_file:
            step.slot = chance(90) ? below(slot_count) : -1 - below(3);
            break;
        case Op::log_add:
        case Op::log_append:
            step.length = 1 + below(chance(5) ? 3000 : 40);
            step.value = below(256);
            if (chance(3)) {
                step.length = chance(50) ? -1 - below(10) : null_entry;
            }
            break;
        case Op::query:
            step.null_list = chance(50);
            break;
        default:
            break;
        }
        return step;
    }

    Op make_op() {
        if (model_.live().empty()) {
            return chance(95) ? Op::create : Op::query;
        }
        const bool many = static_cast<int>(model_.live().size()) >= most_live;
        const std::vector<std::pair<Op, int>> weights = {
            {Op::write, 18},
            {Op::seek, 2},
            {Op::close, 1},
            {Op::open, 2},
            {Op::create, many ? 1 : 12},
            {Op::commit, many ? 16 : 7},
            {Op::restore, 8},
            {Op::advance, 8},
            {Op::add_copy, 22},
            {Op::add_parent, 9},
            {Op::add_regen, 9},
            {Op::remove, 7},
            {Op::add_file, 3},
            {Op::delete_file, 2},
            {Op::log_add, 4},
            {Op::log_append, 4},
            {Op::log_get, 6},
            {Op::log_next, 4},
            {Op::log_delete, 1},
            {Op::verify, 3},
            {Op::query, 1},
        };
        int total = 0;
        for (const auto &[op, weight] : weights) {
            total += weight;
        }
        int at = below(total);
        for (const auto &[op, weight] : weights) {
            at -= weight;
            if (at < 0) {
                return op;
            }
        }
        return Op::query;
    }

    const Cd &any_live() {
        const auto &live = model_.live();
        return *live[static_cast<size_t>(below(static_cast<int>(live.size())))];
    }

    Target make_target() {
        if (model_.live().empty() || chance(3)) {
            return bad_target();
        }
        if (chance(12)) {
            return {Handle::current, 0};
        }
        const Cd *cd = &any_live();
        while (!cd->children.empty() && chance(60)) {
            cd = cd->children.back();
        }
        return {Handle::by_id, cd->id};
    }

    Target bad_target() {
        switch (below(4)) {
        case 0:
            return {Handle::null, 0};
        case 1:
            return {Handle::foreign, 0};
        case 2:
            return {Handle::current, 0};
        default:
            return {Handle::by_id, below(ids_ + 5)}; // stale, not yet created, or by luck live
        }
    }

    void make_create(Step &step) {
        step.id = ids_++;
        step.storage = make_storage();
        const bool root = model_.live().empty() || chance(12);
        if (root) {
            step.target = {Handle::null, 0};
            step.name = chance(90) ? 1 + below(5) : below(static_cast<int>(names().size()));
            step.logging = chance(70) ? COMM_LOGGING_ENABLED : COMM_LOGGING_DISABLED;
            if (chance(4)) {
                step.logging = 2 + below(2);
            }
            return;
        }
        step.target = make_target();
        for (int tries = 0; tries < 5; ++tries) {
            cd_error error;
            const Cd *parent = model_.resolve(step.target, error);
            if (parent == nullptr || parent->depth < deepest) {
                break;
            }
            step.target = {Handle::by_id, parent->parent->id};
        }
        cd_error error;
        const Cd *parent = model_.resolve(step.target, error);
        step.logging = COMM_LOGGING_INHERIT;
        if (parent != nullptr && chance(30)) {
            step.logging = parent->logging;
        }
        if (chance(4)) {
            step.logging = below(4);
        }
        if (chance(2)) {
            step.name = 1 + below(5);
        }
        if (step.target.kind == Handle::null) {
            step.name = 1 + below(5);
        }
    }

    int make_storage() {
        if (chance(60)) {
            return 0;
        }
        if (chance(4)) {
            return 7 + below(static_cast<int>(storages().size()) - 7);
        }
        return below(7);
    }

    void make_list(Step &step) {
        cd_error error;
        const Cd *cd = model_.resolve(step.target, error);
        const int elements = chance(60) ? 1 : below(6);
        for (int i = 0; i < elements; ++i) {
            const bool beside = i > 0 && chance(40) && has_room_behind(step.list.back());
            step.list.push_back(beside ? behind(step.list.back()) : make_element(step, cd));
        }
        step.count = elements;
        if (elements > 0 && chance(5)) {
            step.count = below(elements + 1);
        }
        if (step.op != Op::remove) {
            step.storage = chance(85) ? 0 : make_storage();
        }
        if (step.op == Op::add_regen) {
            step.regen = below(regen_count);
        }
        if (chance(6)) {
            spoil(step);
        }
    }

    Element make_element(const Step &step, const Cd *cd) {
        Element element;
        const int lowest = step.op == Op::add_regen ? state_size : 0;
        element.length = make_length();
        element.offset = lowest + below(arena_size - lowest);
        if (chance(60)) {
            element.offset = std::max(lowest, element.offset / 8 * 8);
        }
        if (step.op == Op::add_copy && chance(15)) {
            element.offset = 0; // what a regen function reads
        }
        if (cd != nullptr) {
            if (step.op == Op::add_parent && cd->parent != nullptr && chance(93)) {
                aim(element, *ancestor_with_copies(*cd), true);
            } else if (step.op == Op::remove && chance(93)) {
                aim(element, *cd, false);
            }
        }
        element.length = std::min(element.length, arena_size - element.offset);
        if (step.op == Op::add_regen) {
            element.offset = std::max(element.offset, state_size);
        }
        element.access = step.op != Op::add_regen && chance(55) ? READ_WRITE : READ_ONLY;
        element.scope = make_scope(element, cd);
        return element;
    }

    static bool has_room_behind(const Element &element) {
        return element.offset + 2 * element.length <= arena_size;
    }

    // Returns the range right behind this one, which the CD may keep together with it.
    static Element behind(Element element) {
        element.offset += element.length;
        return element;
    }

    int make_length() {
        if (chance(7)) {
            return 0;
        }
        if (chance(40)) {
            return 1 + below(8);
        }
        return chance(70) ? 8 * (1 + below(3)) : 1 + below(64);
    }

    int make_scope(const Element &element, const Cd *cd) {
        if (cd != nullptr && chance(95)) {
            for (int offset = element.offset; offset < element.offset + element.length; ++offset) {
                const Byte &byte = cd->bytes[static_cast<size_t>(offset)];
                if (byte.held) {
                    return byte.constrained ? CONSTRAINED : GLOBAL;
                }
            }
        }
        return chance(20) ? CONSTRAINED : GLOBAL;
    }

    const Cd *ancestor_with_copies(const Cd &cd) {
        const Cd *at = cd.parent;
        while (at->parent != nullptr && chance(40)) {
            at = at->parent;
        }
        return at;
    }

    // Moves element to a run of bytes that cd holds, if it finds one.
    void aim(Element &element, const Cd &cd, bool only_copies) {
        const auto fits = [&](int offset) {
            const Byte &byte = cd.bytes[static_cast<size_t>(offset)];
            return byte.held && (!only_copies || byte.restoration == Restoration::copy);
        };
        for (int tries = 0; tries < 20 && !fits(element.offset); ++tries) {
            element.offset = below(arena_size);
        }
        if (!fits(element.offset)) {
            return;
        }
        int end = element.offset;
        while (end < arena_size && fits(end)) {
            ++end;
        }
        element.length = std::min(element.length, end - element.offset);
    }

    // Makes one thing wrong with a list call.
    void spoil(Step &step) {
        if (step.list.empty() || chance(15)) {
            step.count = chance(50) ? -1 - below(3) : std::max(step.count, 1);
            step.null_list = step.count > 0;
            return;
        }
        Element &element =
            step.list[static_cast<size_t>(below(static_cast<int>(step.list.size())))];
        switch (below(7)) {
        case 0:
            element.access = bad_enum;
            break;
        case 1:
            element.scope = bad_enum;
            break;
        case 2:
            element.where = Where::null;
            break;
        case 3:
            element.where = Where::wraps;
            element.length = 1;
            break;
        case 4:
            element.where = Where::to_zero;
            element.length = 1;
            break;
        case 5:
            if (step.op == Op::add_regen && element.length > 0) {
                element.access = READ_WRITE;
            }
            break;
        default:
            if (step.op == Op::add_regen) {
                step.regen = -1;
            }
            break;
        }
    }

    std::mt19937_64 random_;
    Model model_;
    int ids_ = 0;
};

} // namespace

std::vector<Step> generate(uint64_t seed, int length) { return Generator(seed).run(length); }

} // namespace model
