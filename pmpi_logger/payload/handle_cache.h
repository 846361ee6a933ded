// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/handle_word.h"
#include "mpi/thread_data.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cd::logger {

// A cache, for each thread, of what MPI said about a few handles. It is emptied before MPI frees a
// handle of the kind, since another thread may get the handle at once.
template <typename Handle, typename Facts, Facts (*ask)(Handle)> class HandleCache {
public:
    // Valid until the thread asks for another handle.
    [[gnu::always_inline]] static const Facts &of(Handle handle) {
        const Facts *facts = known(handle);
        return facts != nullptr ? *facts : ask_and_keep(handle);
    }

    // Returns the facts if they are in the cache, else nullptr.
    [[gnu::always_inline]] static const Facts *known(Handle handle) {
        const uint64_t key = word_of(handle);
        const Places *own = ThreadData<Places>::if_made();
        if (own == nullptr) [[unlikely]] {
            return nullptr;
        }
        const Known &place = (*own)[place_of(key)];
        const bool is_known = place.key == key && place.age == age_.load(std::memory_order_relaxed);
        return is_known ? &place.facts : nullptr;
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

    [[gnu::noinline]] static const Facts &ask_and_keep(Handle handle) {
        const uint64_t key = word_of(handle);
        const uint64_t now = age_.load(std::memory_order_relaxed);
        Known &place = of_this_thread<Places>()[place_of(key)];
        place = {key, now, ask(handle)};
        return place.facts;
    }

    // Handles are addresses, or numbers that count up from many zeros. The upper bits of the
    // product depend on all bits.
    static size_t place_of(uint64_t key) {
        static_assert(places == 64);
        return key * 0x9E3779B97F4A7C15 >> 58;
    }

    static inline std::atomic<uint64_t> age_ = 1;
};

} // namespace cd::logger
