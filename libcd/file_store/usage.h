// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cd {

// How much of the places for data is used, in bytes. What is not, of a place of which something is,
// is wasted: a place is free again only as a whole. Thread-safe.
class Usage {
public:
    // Beside the data; docs/inside/format-store.md bounds the size with it.
    static bool is_much(uint64_t wasted, uint64_t used) { return wasted > used / 16; }

    // Of a place of this size more is used, or less.
    void change(uint64_t size, uint64_t before, uint64_t after) noexcept {
        used_.fetch_add(after - before, std::memory_order_relaxed);
        if (const uint64_t more = waste(size, after) - waste(size, before); more != 0) {
            wasted_.fetch_add(more, std::memory_order_relaxed);
        }
    }

    uint64_t wasted() const noexcept { return wasted_; }
    // Much more is wasted than was accepted, which becomes no more than what is.
    bool is_wasteful(uint64_t &accepted) const noexcept {
        const uint64_t wasted = wasted_;
        accepted = std::min(accepted, wasted);
        const uint64_t more = wasted - accepted;
        return more >= least && is_much(more, used_);
    }

    static uint64_t waste(uint64_t size, uint64_t used) {
        return used > 0 && used < size ? size - used : 0;
    }

private:
    static constexpr uint64_t least = 4096; // is worth the trouble

    std::atomic<uint64_t> used_ = 0;
    std::atomic<uint64_t> wasted_ = 0;
};

} // namespace cd
