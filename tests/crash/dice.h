// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace crash {

// Random numbers that are the same for a seed everywhere; the standard's distributions are not.
class Dice {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {}

    // From 0 to below.
    size_t below(size_t bound) { return static_cast<size_t>(engine_() % bound); }
    int between(int first, int last) {
        return first + static_cast<int>(below(static_cast<size_t>(last - first + 1)));
    }
    bool one_in(size_t n) { return below(n) == 0; }

private:
    std::mt19937_64 engine_;
};

} // namespace crash
