// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace fuzz {

inline void require(bool holds, const char *rule) {
    if (!holds) {
        std::fprintf(stderr, "violated: %s\n", rule);
        std::abort();
    }
}

// Takes the fuzzer's bytes apart; what is not there reads as 0.
class Input {
public:
    Input(const uint8_t *data, size_t size)
        : left_(reinterpret_cast<const std::byte *>(data), size) {}

    uint8_t number8() {
        const std::span<const std::byte> byte = bytes(1);
        return byte.empty() ? 0 : std::to_integer<uint8_t>(byte[0]);
    }
    uint32_t number16() {
        const uint32_t low = number8();
        return low | static_cast<uint32_t>(number8()) << 8U;
    }
    // Their number, and then so many; fewer at the end.
    std::span<const std::byte> counted() { return bytes(number16()); }
    std::span<const std::byte> rest() { return bytes(left_.size()); }
    bool empty() const { return left_.empty(); }

private:
    std::span<const std::byte> bytes(size_t count) {
        const std::span<const std::byte> taken = left_.first(std::min(count, left_.size()));
        left_ = left_.subspan(taken.size());
        return taken;
    }

    std::span<const std::byte> left_;
};

} // namespace fuzz
