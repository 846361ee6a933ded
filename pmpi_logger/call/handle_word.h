// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mpi.h>
#include <type_traits>

namespace cd::logger {

// Returns a number or a handle as the 64 bits that stand in the log.
template <typename T> uint64_t word_of(T value) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
        static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
        uint64_t word = 0;
        std::memcpy(&word, &value, sizeof value);
        return word;
    }
}

// Returns whether the handle may name an object. If not, MPI is not asked about it: it would raise
// the error that the program's own call raises. MPICH's handles contain their kind.
template <typename Handle> bool may_name(Handle handle, Handle null) {
    if constexpr (std::is_pointer_v<Handle>) {
        return handle != null;
    } else {
        constexpr int kind = 0xF << 26;
        return handle != null && ((handle ^ null) & kind) == 0;
    }
}

// A filter that answers for most handles outside a set without the set's lock. Whoever adds or
// removes holds the lock.
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
