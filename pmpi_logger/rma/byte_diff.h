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

// Adds the runs in which the two differ, in order; bytes that are the same are in none.
void add_differences(const std::byte *a, const std::byte *b, size_t size, Runs &runs);

// Runs with little between them become one.
void join_near(Runs &runs);

} // namespace cd::logger
