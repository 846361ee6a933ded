// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "process.h"

#include "arena.h"
#include "runtime/active_stack.h"
#include "runtime/persistent_root.h"
#include "script.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace crash {

Arena arena;

namespace {

// Stores do not know which function it is, so that one is enough.
constexpr int only_regen = 0;

int regenerate(cd_addrspec *ranges, int count) {
    for (int i = 0; i < count; ++i) {
        const auto begin = reinterpret_cast<uint64_t>(ranges[i].address);
        for (uint64_t at = begin; at < begin + ranges[i].length; at += arena.block()) {
            const auto index = static_cast<int>(arena.index_of(at));
            arena.write(index, model::regenerated(only_regen, index, 0));
        }
    }
    return 0;
}

} // namespace

Process::Process(DiskSystem &system, std::string storage)
    : system_(system), storage_(std::move(storage)) {
    cd::os::replace_system(&system_);
}

Process::~Process() {
    for (const auto &[id, handle] : handles_) {
        cd::FamilyLock lock;
        if (lock.lock(handle, cd::FamilyLock::Reach::family) && lock.domain().is_root()) {
            lock.prepare_discard(subtree_of(lock.domain()).size());
            cd::end_family(lock, lock.domain());
        }
    }
    cd::ActiveStack::look_for_ended();
    cd::os::replace_system(nullptr);
}

cd_error Process::take(const model::Step &step) {
    switch (step.op) {
    case model::Op::write:
        for (int i = 0; i < step.length; ++i) {
            arena.write(step.offset + i, model::written_byte(step, i));
        }
        return CD_ERROR_NONE;
    case model::Op::seek:
        system_.seek(DiskSystem::descriptor_of(step.slot), step.value, SEEK_SET);
        return CD_ERROR_NONE;
    case model::Op::create:
        return create(step);
    default:
        return call(step, handles_.at(step.target.id));
    }
}

cd_error Process::create(const model::Step &step) {
    const bool is_root = step.target.kind == model::Handle::null;
    cd_handle made = is_root
                         ? create_cd(nullptr, storage_.c_str(), CD_COMM_LOGGING_DISABLED,
                                     model::names()[static_cast<size_t>(step.name)].text, nullptr)
                         : create_cd(handles_.at(step.target.id), nullptr, CD_COMM_LOGGING_INHERIT,
                                     nullptr, nullptr);
    if (made != nullptr) {
        handles_[step.id] = made;
    }
    return cd_last_error();
}

cd_error Process::call(const model::Step &step, cd_handle handle) const {
    std::vector<cd_addrspec> list;
    for (const model::Element &element : step.list) {
        list.push_back(arena.range(element));
    }
    switch (step.op) {
    case model::Op::commit:
        commit_cd(handle);
        break;
    case model::Op::restore:
        restore_cd(handle);
        break;
    case model::Op::advance:
        advance_cd_point_in_time(handle);
        break;
    case model::Op::add_copy:
        add_to_cd_via_copy(handle, list.data(), step.count, nullptr);
        break;
    case model::Op::add_parent:
        add_to_cd_via_parent(handle, list.data(), step.count, nullptr);
        break;
    case model::Op::add_regen:
        add_to_cd_via_regen(handle, list.data(), step.count, nullptr, regenerate);
        break;
    case model::Op::remove:
        delete_from_cd(handle, list.data(), step.count);
        break;
    case model::Op::add_file:
        add_file_to_cd(handle, DiskSystem::descriptor_of(step.slot));
        break;
    case model::Op::delete_file:
        delete_file_from_cd(handle, DiskSystem::descriptor_of(step.slot));
        break;
    default:
        std::abort(); // no step of a program for stores
    }
    return cd_last_error();
}

bool Process::has_restarted(int root) const {
    cd_info info;
    return cd_query(handles_.at(root), &info) == CD_SUCCESS && info.restarted == 1;
}

std::string Process::check_memory(const model::Model &model) {
    for (int i = 0; i < model::arena_size; ++i) {
        uint8_t value = 0;
        const uint8_t expected = model.memory()[static_cast<size_t>(i)];
        if (!arena.read(i, value) || value != expected) {
            return "memory at block " + std::to_string(i) + " is " + std::to_string(value) +
                   " instead of " + std::to_string(expected);
        }
    }
    return "";
}

std::vector<model::Step> added_again(const model::Cd &root) {
    std::vector<model::Step> steps;
    for (int i = 0; i < model::arena_size; ++i) {
        const model::Byte &byte = root.bytes[static_cast<size_t>(i)];
        if (byte.held && byte.restoration == model::Restoration::regen) {
            steps.push_back(add_regen(
                root.id,
                {bytes(i, 1, CD_READ_ONLY, byte.constrained ? CD_CONSTRAINED : CD_GLOBAL)}));
        }
    }
    for (const auto &[slot, record] : root.files) {
        steps.push_back(add_file(root.id, slot));
    }
    return steps;
}

bool descendants_regenerate(const model::Model &model) {
    return std::ranges::any_of(model.live(), [](const auto &cd) {
        return cd->parent != nullptr && std::ranges::any_of(cd->bytes, [](const model::Byte &byte) {
                   return byte.held && byte.restoration == model::Restoration::regen;
               });
    });
}

std::vector<model::Step> seek_all() {
    std::vector<model::Step> steps;
    for (int slot = 0; slot < model::slot_count; ++slot) {
        steps.push_back(seek(slot, 40 + slot));
    }
    return steps;
}

model::Step write_all(int value) {
    model::Step step;
    step.op = model::Op::write;
    step.length = model::arena_size;
    step.value = value;
    return step;
}

} // namespace crash
