// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/long_copy.h"

#include "os/memory_sizes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace cd {

#ifdef __x86_64__

namespace {

// Several streams at once, since memory and prefetchers serve them better than one, and long ones
// better than short ones.
constexpr size_t shortest_stream = size_t{4} << 10;

// Lines that are a multiple of a page apart compete for the same few places in the cache next to
// the core, those that the streams have reached do not. Past the caches it is worse: where both
// sides begin with a page, streams of 64 KiB take up to five times as long as of 63.
constexpr size_t longest_stream(size_t rest, size_t of_streams) {
    return rest / of_streams / small_page * small_page -
           small_page / of_streams / cache_line * cache_line;
}

struct PastCaches {
    static constexpr size_t streams = 4;
    static size_t stream(size_t rest) {
        constexpr size_t long_enough = size_t{64} << 10;
        return longest_stream(std::min(rest, streams * long_enough), streams);
    }
    // A line of the target's next page too: where pages are small, as in tmpfs, the processor would
    // wait at each for the translation of its address.
    static void prefetch(const std::byte *to, const std::byte *from) {
        _mm_prefetch(from + 4 * cache_line, _MM_HINT_T0);
        if (reinterpret_cast<uintptr_t>(to) % small_page == 0) {
            _mm_prefetch(to + small_page, _MM_HINT_T0);
        }
    }
    static void store(__m128i *to, __m128i bytes) { _mm_stream_si128(to, bytes); }
};

// The target, too, and for writing, which is what the processor waits for most. Not
// __builtin_prefetch, which is one for reading unless the oldest processors are left out; those
// ignore this one.
template <size_t TargetAhead> struct ThroughCaches {
    static constexpr size_t streams = 7;
    static size_t stream(size_t rest) { return longest_stream(rest, streams); }
    static void prefetch(const std::byte *to, const std::byte *from) {
        asm volatile("prefetchw %0" : : "m"(to[TargetAhead * cache_line]));
        _mm_prefetch(from + 8 * cache_line, _MM_HINT_T0);
    }
    static void store(__m128i *to, __m128i bytes) { _mm_store_si128(to, bytes); }
};

// Measured: what the caches have comes soonest when so much of it has been asked for, what only
// memory has when it is less.
using FromCaches = ThroughCaches<12>;
using FromMemory = ThroughCaches<8>;
constexpr size_t most_in_caches = size_t{4} << 20;

template <typename Way> void copy_line(std::byte *to, const std::byte *from) {
    auto *target = reinterpret_cast<__m128i *>(to);
    const auto *source = reinterpret_cast<const __m128i *>(from);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    Way::store(target, first);
    Way::store(target + 1, second);
    Way::store(target + 2, third);
    Way::store(target + 3, fourth);
}

template <typename Way> void copy_streams(std::byte *to, const std::byte *from, size_t each) {
    for (size_t offset = 0; offset < each; offset += cache_line) {
        for (size_t k = 0; k < Way::streams; ++k) {
            const size_t at = offset + k * each;
            Way::prefetch(to + at, from + at);
            copy_line<Way>(to + at, from + at);
        }
    }
}

template <typename Way> void copy(void *to, const void *from, size_t length) {
    auto *target = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    const size_t past_line = reinterpret_cast<uintptr_t>(target) % cache_line;
    const size_t head = std::min(length, (cache_line - past_line) % cache_line);
    std::memcpy(target, source, head);
    size_t done = head;
    while (length - done >= Way::streams * shortest_stream) {
        const size_t each = Way::stream(length - done);
        copy_streams<Way>(target + done, source + done, each);
        done += Way::streams * each;
    }
    for (; length - done >= cache_line; done += cache_line) {
        copy_line<Way>(target + done, source + done);
    }
    std::memcpy(target + done, source + done, length - done);
}

} // namespace

void copy_past_caches(void *to, const void *from, size_t length) noexcept {
    copy<PastCaches>(to, from, length);
    _mm_sfence(); // a lock that is released does not wait for such stores by itself
}

void copy_in_streams(void *to, const void *from, size_t length) noexcept {
    if (length <= most_in_caches) {
        copy<FromCaches>(to, from, length);
    } else {
        copy<FromMemory>(to, from, length);
    }
}

#else

void copy_past_caches(void *to, const void *from, size_t length) noexcept {
    std::memcpy(to, from, length);
}

void copy_in_streams(void *to, const void *from, size_t length) noexcept {
    std::memcpy(to, from, length);
}

#endif

} // namespace cd
