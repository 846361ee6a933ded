// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/folding_crc32c.h"

#ifdef __x86_64__

#include "base/memory_sizes.h"
#include "store/crc32c_join.h"

#include <array>
#include <cstddef>
#include <immintrin.h>

namespace cd {
namespace {

// So many streams at once, since memory and prefetchers serve several better than one; and so many
// lines, since a multiplication takes longer than to begin with the next.
constexpr size_t together = 4;
constexpr size_t stream = size_t{16} << 10;

// Measured.
constexpr size_t ahead_in_stream = 4 * cache_line;
constexpr size_t ahead_of_lines = 32 * cache_line;

// By what the halves of each 16 bytes are multiplied to stand so many bytes further up. As
// everywhere in CRC-32C the top bit is the lowest power, which products of 64 bits have one bit
// lower.
struct Distance {
    explicit Distance(size_t bytes) {
        for (size_t k = 0; k < halves.size(); k += 2) {
            halves[k] = power(bytes + 4);
            halves[k + 1] = power(bytes - 4);
        }
    }

    static uint64_t power(size_t bytes) {
        constexpr uint32_t first_power = 0x80000000;
        return uint64_t{join_crc32c(first_power, 0, bytes)} << 1;
    }

    alignas(cache_line) std::array<uint64_t, cache_line / sizeof(uint64_t)> halves;
};

// The sum of lanes, distance further up, and of what is there.
[[gnu::target("avx512f,vpclmulqdq")]] __m512i fold(__m512i lanes, __m512i distance, __m512i there) {
    constexpr int sum_of_three = 0x96;
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(lanes, distance, 0x00),
                                     _mm512_clmulepi64_epi128(lanes, distance, 0x11), there,
                                     sum_of_three);
}

// Reads a line once, so that what is written is what the checksum sees.
template <Target T>
[[gnu::target("avx512f,vpclmulqdq")]] __m512i copy_line(std::byte *to, const std::byte *from) {
    const __m512i bytes = _mm512_loadu_si512(from);
    if constexpr (T == Target::past_caches) {
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to), bytes);
    } else {
        _mm512_store_si512(to, bytes);
    }
    return bytes;
}

[[gnu::target("avx512f,vpclmulqdq")]] __m512i add_to_begin(__m512i bytes, uint64_t crc) {
    return _mm512_xor_si512(bytes,
                            _mm512_zextsi128_si512(_mm_cvtsi64_si128(static_cast<long long>(crc))));
}

[[gnu::target("avx512f,vpclmulqdq")]] uint64_t crc_of(__m512i bytes) {
    alignas(cache_line) std::array<uint64_t, cache_line / sizeof(uint64_t)> words;
    _mm512_store_si512(words.data(), bytes);
    uint64_t crc = 0;
    for (const uint64_t word : words) {
        crc = _mm_crc32_u64(crc, word);
    }
    return crc;
}

struct Distances {
    Distance one_line{cache_line};
    Distance all_lines{together * cache_line};
    Distance one_stream{stream};
};

const Distances &distances() {
    static const Distances known;
    return known;
}

template <Target T>
[[gnu::target("avx512f,vpclmulqdq")]] uint64_t copy_streams(uint64_t crc, CopyRest &rest) {
    const __m512i one_line = _mm512_load_si512(distances().one_line.halves.data());
    const __m512i one_stream = _mm512_load_si512(distances().one_stream.halves.data());
    for (; rest.length >= together * stream; rest.advance(together * stream)) {
        __m512i folded[together];
        for (size_t k = 0; k < together; ++k) {
            folded[k] = copy_line<T>(rest.to + k * stream, rest.from + k * stream);
        }
        folded[0] = add_to_begin(folded[0], crc);
        for (size_t at = cache_line; at < stream; at += cache_line) {
            for (size_t k = 0; k < together; ++k) {
                const std::byte *from = rest.from + k * stream + at;
                _mm_prefetch(from + ahead_in_stream, _MM_HINT_T0);
                folded[k] =
                    fold(folded[k], one_line, copy_line<T>(rest.to + k * stream + at, from));
            }
        }
        for (size_t k = 1; k < together; ++k) {
            folded[k] = fold(folded[k - 1], one_stream, folded[k]);
        }
        crc = crc_of(folded[together - 1]);
    }
    return crc;
}

template <Target T>
[[gnu::target("avx512f,vpclmulqdq")]] uint64_t copy_lines(uint64_t crc, CopyRest &rest) {
    constexpr size_t step = together * cache_line;
    if (rest.length < step) {
        return crc;
    }
    const __m512i one_line = _mm512_load_si512(distances().one_line.halves.data());
    const __m512i all_lines = _mm512_load_si512(distances().all_lines.halves.data());
    __m512i folded[together];
    for (size_t k = 0; k < together; ++k) {
        folded[k] = copy_line<T>(rest.to + k * cache_line, rest.from + k * cache_line);
    }
    folded[0] = add_to_begin(folded[0], crc);
    for (rest.advance(step); rest.length >= step; rest.advance(step)) {
        for (size_t k = 0; k < together; ++k) {
            const std::byte *from = rest.from + k * cache_line;
            _mm_prefetch(from + ahead_of_lines, _MM_HINT_T0);
            folded[k] = fold(folded[k], all_lines, copy_line<T>(rest.to + k * cache_line, from));
        }
    }
    for (size_t k = 1; k < together; ++k) {
        folded[k] = fold(folded[k - 1], one_line, folded[k]);
    }
    return crc_of(folded[together - 1]);
}

} // namespace

bool can_fold_crc32c() noexcept {
    static const bool can =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
    return can;
}

// In the caches one stream is as fast.
template <Target T> uint64_t copy_folding_crc32c(uint64_t crc, CopyRest &rest) noexcept {
    if constexpr (T == Target::past_caches) {
        crc = copy_streams<T>(crc, rest);
    }
    return copy_lines<T>(crc, rest);
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
