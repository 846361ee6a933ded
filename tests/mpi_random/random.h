// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>

// The same numbers from the same seed everywhere, so that all ranks make the same plan.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        uint64_t x = state_;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
        return x ^ (x >> 31);
    }
    int below(int limit) { return static_cast<int>(next() % static_cast<uint64_t>(limit)); }
    bool percent(int chance) { return below(100) < chance; }

private:
    uint64_t state_;
};

inline uint64_t mix(uint64_t a, uint64_t b) { return Random(a * 0x100000001B3U ^ b).next(); }
