// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "model.h"

#include "cd/cd.h"

#include <cstdint>
#include <string>
#include <vector>

// The application that random programs pretend to be: its memory, its regen functions, its files.
// There is one, because regen functions take no context.
namespace model {

struct Arena {
    uint8_t before[64]; // nobody adds these: they must never change
    uint8_t bytes[arena_size];
    uint8_t after[64];
};

extern Arena arena;

void reset_arena();

// "" or what is wrong.
std::string check_arena(const Memory &expected);

struct RegenCall {
    int regen = 0;
    std::vector<int> offsets;
};

// From here on calls are recorded, and failing_regen fails in the given way.
void start_recording(RegenFailure failure);
const std::vector<RegenCall> &recorded_calls();
cd_regen_fn regen_function(int regen); // null for -1

// The calls of a restore, CD by CD. "" or what is wrong.
std::string check_calls(const std::vector<RegenCalls> &expected);

// Temporary files and the descriptors that a program has of them.
class Files {
public:
    Files();
    ~Files();
    Files(const Files &) = delete;
    Files &operator=(const Files &) = delete;

    int descriptor(int slot) const;
    void seek(int slot, long position);
    void close_slot(int slot);
    void open_slot(int slot, int file);
    long position(int slot) const;

private:
    std::string directory_;
    int pipe_[2] = {-1, -1};
};

} // namespace model
