// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/per_thread.h"
#include "call/word.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cd::logger {

// What MPI has said of a few handles lately, for each thread. All is forgotten before MPI frees a
// handle of the kind: at once another thread may be given it, for another object.
template <typename Handle, typename Facts, Facts (*ask)(Handle)> class HandleCache {
public:
    // Valid until the thread asks for another handle.
    static const Facts &of(Handle handle) {
        const uint64_t key = word_of(handle);
        const uint64_t now = age_.load(std::memory_order_relaxed);
        Known &known = of_this_thread<Places>()[place_of(key)];
        if (known.key != key || known.age != now) [[unlikely]] {
            fill(known, handle, key, now);
        }
        return known.facts;
    }

    static void forget() { age_.fetch_add(1, std::memory_order_relaxed); }

private:
    struct alignas(64) Known {
        uint64_t key = 0;
        uint64_t age = 0; // none is that old
        Facts facts;
    };
    static constexpr size_t places = 64;
    struct Places : std::array<Known, places> {};

    [[gnu::noinline]] static void fill(Known &known, Handle handle, uint64_t key, uint64_t now) {
        known = {key, now, ask(handle)};
    }

    // Handles are addresses, or numbers that count up from many zeros.
    static size_t place_of(uint64_t key) { return (key ^ key >> 6 ^ key >> 12) % places; }

    static inline std::atomic<uint64_t> age_ = 1;
};

} // namespace cd::logger
