// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c_avx2.h"

#ifdef __x86_64__

#include "memory/crc32c.h"
#include "os/system.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

namespace cd {
namespace {

// Lines in flight: a multiplication takes longer than to start the next one.
constexpr size_t lines = 4;

// Measured. Past the caches one stream of lines that are written whole is faster than several.
constexpr size_t ahead_of_lines = 32 * cache_line;
constexpr size_t ahead_past_caches = 8 * cache_line;

// The factors that move the halves of 16 bytes up by a number of bytes. The top bit is the lowest
// power, which products of 64 bits have one bit lower.
struct Distance {
    explicit Distance(size_t bytes) : low(power(bytes + 4)), high(power(bytes - 4)) {}

    static uint64_t power(size_t bytes) {
        constexpr uint32_t first_power = 0x80000000;
        return uint64_t{join_crc32c(first_power, 0, bytes)} << 1;
    }

    uint64_t low;
    uint64_t high;
};

struct Line {
    __m256i first;
    __m256i second;
};

[[gnu::target("avx2,vpclmulqdq")]] __m256i for_each_lane(const Distance &distance) {
    const auto low = static_cast<long long>(distance.low);
    const auto high = static_cast<long long>(distance.high);
    return _mm256_set_epi64x(high, low, high, low);
}

// Returns the sum of lanes, moved up by distance, and there.
[[gnu::target("avx2,vpclmulqdq"), gnu::always_inline]] inline __m256i
fold(__m256i lanes, __m256i distance, __m256i there) {
    return _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(lanes, distance, 0x00),
                                             _mm256_clmulepi64_epi128(lanes, distance, 0x11)),
                            there);
}

[[gnu::target("avx2,vpclmulqdq"), gnu::always_inline]] inline Line
fold(const Line &line, __m256i distance, const Line &there) {
    return {fold(line.first, distance, there.first), fold(line.second, distance, there.second)};
}

// Copies a line and returns it. Reads it once, so that the checksum fits what is written.
template <Target T>
[[gnu::target("avx2,vpclmulqdq"), gnu::always_inline]] inline Line
copy_line(std::byte *to, const std::byte *from) {
    const auto *source = reinterpret_cast<const __m256i *>(from);
    auto *target = reinterpret_cast<__m256i *>(to);
    const Line line{_mm256_loadu_si256(source), _mm256_loadu_si256(source + 1)};
    if constexpr (T == Target::past_caches) {
        _mm256_stream_si256(target, line.first);
        _mm256_stream_si256(target + 1, line.second);
    } else {
        _mm256_store_si256(target, line.first);
        _mm256_store_si256(target + 1, line.second);
    }
    return line;
}

[[gnu::target("avx2,vpclmulqdq")]] void add_to_begin(Line &line, uint64_t crc) {
    const __m128i before = _mm_cvtsi64_si128(static_cast<long long>(crc));
    line.first = _mm256_xor_si256(line.first, _mm256_zextsi128_si256(before));
}

[[gnu::target("avx2,vpclmulqdq")]] uint64_t crc_of(const Line &line) {
    alignas(cache_line) std::array<uint64_t, cache_line / sizeof(uint64_t)> words;
    auto *to = reinterpret_cast<__m256i *>(words.data());
    _mm256_store_si256(to, line.first);
    _mm256_store_si256(to + 1, line.second);
    uint64_t crc = 0;
    for (const uint64_t word : words) {
        crc = _mm_crc32_u64(crc, word);
    }
    return crc;
}

struct Distances {
    Distance one_line{cache_line};
    Distance all_lines{lines * cache_line};
};

const Distances &distances() {
    static const Distances known;
    return known;
}

[[gnu::target("avx2,vpclmulqdq")]] uint64_t copy_past_caches(uint64_t crc, CopyRest &whole) {
    if (whole.length < cache_line) {
        return crc;
    }
    CopyRest rest = whole; // a local copy, which no store can alias
    const __m256i one_line = for_each_lane(distances().one_line);
    Line folded = copy_line<Target::past_caches>(rest.to, rest.from);
    add_to_begin(folded, crc);
    for (rest.advance(cache_line); rest.length >= cache_line; rest.advance(cache_line)) {
        _mm_prefetch(rest.from + ahead_past_caches, _MM_HINT_T0);
        if (reinterpret_cast<uintptr_t>(rest.to) % small_page == 0) {
            _mm_prefetch(rest.to + small_page, _MM_HINT_T0); // for its address, as in copy.cpp
        }
        folded = fold(folded, one_line, copy_line<Target::past_caches>(rest.to, rest.from));
    }
    whole = rest;
    return crc_of(folded);
}

[[gnu::target("avx2,vpclmulqdq")]] uint64_t copy_lines(uint64_t crc, CopyRest &rest) {
    constexpr size_t step = lines * cache_line;
    if (rest.length < step) {
        return crc;
    }
    const __m256i one_line = for_each_lane(distances().one_line);
    const __m256i all_lines = for_each_lane(distances().all_lines);
    Line folded[lines];
    for (size_t k = 0; k < lines; ++k) {
        folded[k] = copy_line<Target::cached>(rest.to + k * cache_line, rest.from + k * cache_line);
    }
    add_to_begin(folded[0], crc);
    for (rest.advance(step); rest.length >= step; rest.advance(step)) {
        for (size_t k = 0; k < lines; ++k) {
            const std::byte *from = rest.from + k * cache_line;
            _mm_prefetch(from + ahead_of_lines, _MM_HINT_T0);
            folded[k] = fold(folded[k], all_lines,
                             copy_line<Target::cached>(rest.to + k * cache_line, from));
        }
    }
    for (size_t k = 1; k < lines; ++k) {
        folded[k] = fold(folded[k - 1], one_line, folded[k]);
    }
    return crc_of(folded[lines - 1]);
}

} // namespace

bool can_fold_crc32c() noexcept {
    static const bool can =
        __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
    return can;
}

template <Target T> uint64_t copy_folding_crc32c(uint64_t crc, CopyRest &rest) noexcept {
    return T == Target::past_caches ? copy_past_caches(crc, rest) : copy_lines(crc, rest);
}

} // namespace cd

#else

namespace cd {

bool can_fold_crc32c() noexcept { return false; }

template <Target T> uint64_t copy_folding_crc32c(uint64_t crc, CopyRest &) noexcept { return crc; }

} // namespace cd

#endif

namespace cd {

template uint64_t copy_folding_crc32c<Target::cached>(uint64_t, CopyRest &) noexcept;
template uint64_t copy_folding_crc32c<Target::past_caches>(uint64_t, CopyRest &) noexcept;

} // namespace cd
