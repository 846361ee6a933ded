// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd::logger {

// Consecutive bytes of a window.
struct Run {
    uint64_t offset = 0;
    uint64_t length = 0;
};
using Runs = std::vector<Run>;

// Adds the runs in which `a` and `b` differ, in order. Equal bytes are in none.
void add_differences(const std::byte *a, const std::byte *b, size_t size, Runs &runs);

// Joins runs with few bytes between them.
void join_near(Runs &runs);

} // namespace cd::logger
