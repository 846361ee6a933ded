// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/copy.h"

#include "os/system.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace cd {

#ifdef __x86_64__

namespace {

void write_through_caches(__m128i *to, __m128i bytes) { _mm_store_si128(to, bytes); }
void write_past_caches(__m128i *to, __m128i bytes) { _mm_stream_si128(to, bytes); }

template <void (*Write)(__m128i *, __m128i)> void copy_line(std::byte *to, const std::byte *from) {
    auto *target = reinterpret_cast<__m128i *>(to);
    const auto *source = reinterpret_cast<const __m128i *>(from);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    Write(target, first);
    Write(target + 1, second);
    Write(target + 2, third);
    Write(target + 3, fourth);
}

// Returns the bytes before the first whole cache line of the target.
size_t up_to_line(const void *to, size_t length) {
    const size_t past_line = reinterpret_cast<uintptr_t>(to) % cache_line;
    return std::min(length, (cache_line - past_line) % cache_line);
}

// Copies whole lines in one stream. Measured: several take longer, up to five times if they are a
// multiple of a page apart.
void copy_lines_past_caches(std::byte *to, const std::byte *from, size_t length) {
    constexpr size_t ahead = 4 * cache_line; // measured
    for (size_t at = 0; at < length; at += cache_line) {
        _mm_prefetch(from + at + ahead, _MM_HINT_T0);
        // Prefetches the target's next page too: with small pages, as in tmpfs, the processor would
        // wait for the translation of its address.
        if (reinterpret_cast<uintptr_t>(to + at) % small_page == 0) {
            _mm_prefetch(to + at + small_page, _MM_HINT_T0);
        }
        copy_line<write_past_caches>(to + at, from + at);
    }
}

// Through the caches several long streams at once are faster than one.
constexpr size_t streams = 7;
constexpr size_t shortest_stream = size_t{4} << 10;

// Returns a length that is no multiple of a page: lines so far apart would compete for the same few
// places in the cache.
constexpr size_t longest_stream(size_t rest) {
    return rest / streams / small_page * small_page -
           small_page / streams / cache_line * cache_line;
}

// Prefetches both sides, the target for writing. __builtin_prefetch would prefetch for reading
// unless the oldest processors are excluded; those ignore prefetchw.
template <size_t TargetAhead> void prefetch(const std::byte *to, const std::byte *from) {
    asm volatile("prefetchw %0" : : "m"(to[TargetAhead * cache_line]));
    _mm_prefetch(from + 8 * cache_line, _MM_HINT_T0);
}

// Measured distances of the prefetch, in lines.
constexpr size_t ahead_in_caches = 12;
constexpr size_t ahead_in_memory = 8;
constexpr size_t most_in_caches = size_t{4} << 20;

template <size_t TargetAhead> void copy_streams(std::byte *to, const std::byte *from, size_t each) {
    for (size_t offset = 0; offset < each; offset += cache_line) {
        for (size_t k = 0; k < streams; ++k) {
            const size_t at = offset + k * each;
            prefetch<TargetAhead>(to + at, from + at);
            copy_line<write_through_caches>(to + at, from + at);
        }
    }
}

template <size_t TargetAhead> void copy(void *to, const void *from, size_t length) {
    auto *target = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    size_t done = up_to_line(target, length);
    std::memcpy(target, source, done);
    while (length - done >= streams * shortest_stream) {
        const size_t each = longest_stream(length - done);
        copy_streams<TargetAhead>(target + done, source + done, each);
        done += streams * each;
    }
    for (; length - done >= cache_line; done += cache_line) {
        copy_line<write_through_caches>(target + done, source + done);
    }
    std::memcpy(target + done, source + done, length - done);
}

} // namespace

void copy_past_caches(void *to, const void *from, size_t length) noexcept {
    auto *target = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    const size_t head = up_to_line(target, length);
    const size_t whole_lines = (length - head) / cache_line * cache_line;
    std::memcpy(target, source, head);
    copy_lines_past_caches(target + head, source + head, whole_lines);
    const size_t done = head + whole_lines;
    std::memcpy(target + done, source + done, length - done);
    _mm_sfence(); // a lock that is released does not wait for such stores by itself
}

void copy_in_streams(void *to, const void *from, size_t length) noexcept {
    if (length <= most_in_caches) {
        copy<ahead_in_caches>(to, from, length);
    } else {
        copy<ahead_in_memory>(to, from, length);
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
