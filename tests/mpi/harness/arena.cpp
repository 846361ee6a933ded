// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/arena.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace cd::scenarios {
namespace {

constexpr size_t capacity = size_t{8} << 20;

struct Arena {
    std::unique_ptr<unsigned char[]> bytes{new unsigned char[capacity]};
    size_t used = 0;
};

Arena arenas[2];
Arena *current = &arenas[0];

} // namespace

void begin_arena(Place place) {
    current = &arenas[place == Place::elsewhere ? 1 : 0];
    current->used = 0;
}

unsigned char *take_from_arena(size_t size) {
    constexpr size_t alignment = 64;
    unsigned char *taken = current->bytes.get() + current->used;
    current->used += (size + alignment - 1) / alignment * alignment;
    if (current->used > capacity) {
        std::fprintf(stderr, "the scenario's buffers do not fit into the arena\n");
        std::abort();
    }
    return taken;
}

} // namespace cd::scenarios
