// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/copy_past_caches.h"

#include "base/memory_sizes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cd {

#ifdef __SSE2__

namespace {

// Several streams at once, since memory and prefetchers serve them better than one, and long ones
// better than short ones.
constexpr size_t streams_at_once = 4;
constexpr size_t longest_stream = size_t{64} << 10;
constexpr size_t shortest_stream = size_t{4} << 10;

void copy_line(std::byte *to, const std::byte *from) {
    auto *target = reinterpret_cast<__m128i *>(to);
    const auto *source = reinterpret_cast<const __m128i *>(from);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
}

// stream: the length of each.
void copy_streams(std::byte *to, const std::byte *from, size_t stream) {
    constexpr size_t ahead = 4 * cache_line;
    for (size_t offset = 0; offset < stream; offset += cache_line) {
        for (size_t k = 0; k < streams_at_once; ++k) {
            const size_t at = offset + k * stream;
            _mm_prefetch(from + at + ahead, _MM_HINT_T0);
            copy_line(to + at, from + at);
        }
    }
}

} // namespace

void copy_past_caches(void *to, const void *from, size_t length) noexcept {
    auto *target = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    const size_t past_line = reinterpret_cast<uintptr_t>(target) % cache_line;
    const size_t head = std::min(length, (cache_line - past_line) % cache_line);
    std::memcpy(target, source, head);
    size_t done = head;
    while (length - done >= streams_at_once * shortest_stream) {
        const size_t stream =
            std::min((length - done) / streams_at_once / cache_line * cache_line, longest_stream);
        copy_streams(target + done, source + done, stream);
        done += streams_at_once * stream;
    }
    for (; length - done >= cache_line; done += cache_line) {
        copy_line(target + done, source + done);
    }
    std::memcpy(target + done, source + done, length - done);
    _mm_sfence(); // a lock that is released does not wait for such stores by itself
}

#else

void copy_past_caches(void *to, const void *from, size_t length) noexcept {
    std::memcpy(to, from, length);
}

#endif

} // namespace cd
