// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cd::logger {

// Tells of most handles that are not in a set that they are not, without the set's lock, which
// whoever adds or removes holds.
class HandleFilter {
public:
    bool may_have(uint64_t handle) const {
        return counts_[place_of(handle)].load(std::memory_order_relaxed) != 0;
    }

    void add(uint64_t handle) { counts_[place_of(handle)].fetch_add(1, std::memory_order_relaxed); }
    void remove(uint64_t handle) {
        counts_[place_of(handle)].fetch_sub(1, std::memory_order_relaxed);
    }

private:
    static constexpr int bits = 12; // several places for each communicator that MPI can have

    // Handles are addresses, or numbers that count up: Fibonacci hashing scatters both.
    static size_t place_of(uint64_t handle) { return handle * 0x9E3779B97F4A7C15U >> (64 - bits); }

    std::array<std::atomic<uint32_t>, size_t{1} << bits> counts_{};
};

} // namespace cd::logger
