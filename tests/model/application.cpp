// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "application.h"

#include "in_memory.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

namespace model {

Arena arena;

namespace {

constexpr uint8_t guard_byte = 0xEE;
// High, so that they stay out of the way of everything else that opens files.
constexpr int first_descriptor = 300;
constexpr int unused_descriptor_number = 399;

std::vector<RegenCall> calls;
RegenFailure failure_mode = RegenFailure::no;

template <int regen> int write_pattern(cd_addrspec list[], int count) {
    RegenCall call{regen, {}};
    for (int i = 0; i < count; ++i) {
        const auto start = static_cast<uint8_t *>(list[i].address) - arena.bytes;
        for (size_t j = 0; j < list[i].length; ++j) {
            call.offsets.push_back(static_cast<int>(start) + static_cast<int>(j));
        }
    }
    calls.push_back(call);
    if (regen == failing_regen && failure_mode == RegenFailure::returns) {
        return 1;
    }
    if (regen == failing_regen && failure_mode == RegenFailure::throws) {
        throw std::runtime_error("regen");
    }
    for (const int offset : call.offsets) {
        // An offset outside the arena is reported by check_calls().
        if (offset >= state_size && offset < arena_size) {
            arena.bytes[offset] = regenerated(regen, offset, arena.bytes[0]);
        }
    }
    return 0;
}

std::string text(const RegenCall &call) {
    std::string out = "regen" + std::to_string(call.regen) + " for";
    for (const int offset : call.offsets) {
        out += " " + std::to_string(offset);
    }
    return out;
}

} // namespace

void reset_arena() {
    std::memset(arena.before, guard_byte, sizeof arena.before);
    std::memset(arena.after, guard_byte, sizeof arena.after);
    for (int offset = 0; offset < arena_size; ++offset) {
        arena.bytes[offset] = initial_byte(offset);
    }
}

std::string check_arena(const Memory &expected) {
    for (const uint8_t byte : arena.before) {
        if (byte != guard_byte) {
            return "memory before the arena was overwritten";
        }
    }
    for (const uint8_t byte : arena.after) {
        if (byte != guard_byte) {
            return "memory behind the arena was overwritten";
        }
    }
    for (int offset = 0; offset < arena_size; ++offset) {
        if (arena.bytes[offset] != expected[offset]) {
            return "arena+" + std::to_string(offset) + " holds " +
                   std::to_string(arena.bytes[offset]) + ", expected " +
                   std::to_string(expected[offset]);
        }
    }
    return "";
}

void start_recording(RegenFailure failure) {
    calls.clear();
    failure_mode = failure;
}

const std::vector<RegenCall> &recorded_calls() { return calls; }

cd_regen_fn regen_function(int regen) {
    static const cd_regen_fn functions[regen_count] = {write_pattern<0>, write_pattern<1>,
                                                       write_pattern<2>};
    return regen < 0 ? nullptr : functions[regen];
}

std::string check_calls(const std::vector<RegenCalls> &expected) {
    size_t next = 0;
    for (const RegenCalls &of_cd : expected) {
        RegenCalls left = of_cd;
        while (!left.empty()) {
            if (next == calls.size()) {
                return "regen" + std::to_string(left.begin()->first) + " was not called for byte " +
                       std::to_string(*left.begin()->second.begin());
            }
            const RegenCall &call = calls[next++];
            const auto found = left.find(call.regen);
            for (const int offset : call.offsets) {
                if (found == left.end() || found->second.erase(offset) == 0) {
                    return "unexpected call of " + text(call);
                }
            }
            if (found != left.end() && found->second.empty()) {
                left.erase(found);
            }
        }
    }
    return next == calls.size() ? "" : "unexpected call of " + text(calls[next]);
}

Files::Files() {
    std::string name = (scratch::in_memory() / "cd-model-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr || pipe(pipe_) != 0) {
        throw std::runtime_error("no temporary directory");
    }
    directory_ = name;
    for (int slot = 0; slot < slot_count; ++slot) {
        open_slot(slot, slot);
    }
}

Files::~Files() {
    for (int slot = 0; slot < slot_count; ++slot) {
        close_slot(slot);
    }
    close(pipe_[0]);
    close(pipe_[1]);
    std::filesystem::remove_all(directory_);
}

int Files::descriptor(int slot) const {
    switch (slot) {
    case negative_descriptor:
        return -1;
    case unused_descriptor:
        return unused_descriptor_number;
    case pipe_descriptor:
        return pipe_[0];
    default:
        return first_descriptor + slot;
    }
}

void Files::seek(int slot, long position) { lseek(descriptor(slot), position, SEEK_SET); }

void Files::close_slot(int slot) { close(descriptor(slot)); }

void Files::open_slot(int slot, int file) {
    const std::string path = directory_ + "/file" + std::to_string(file);
    const int opened = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0 || dup2(opened, descriptor(slot)) < 0) {
        throw std::runtime_error("cannot open " + path);
    }
    close(opened);
}

long Files::position(int slot) const { return lseek(descriptor(slot), 0, SEEK_CUR); }

} // namespace model
