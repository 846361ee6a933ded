// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#include "memory/crc32c_avx2.h"
#include "os/system.h"

#ifdef CD_HAVE_ISAL
#include "base/isa_l.h"
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#ifdef __x86_64__
#include <nmmintrin.h>
#elif defined __aarch64__
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace cd {
namespace {

constexpr uint32_t reversed_polynomial = 0x82F63B78;

// Slicing by 8: slices[k][b] is what the byte b contributes k bytes later.
using Slices = std::array<std::array<uint32_t, 256>, 8>;

constexpr Slices make_slices() {
    Slices slices{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? reversed_polynomial : 0);
        }
        slices[0][byte] = crc;
    }
    for (size_t k = 1; k < slices.size(); ++k) {
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = slices[k - 1][byte];
            slices[k][byte] = (before >> 8) ^ slices[0][before & 0xFF];
        }
    }
    return slices;
}

constexpr Slices slices = make_slices();

uint64_t load_little_endian(const std::byte *at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    return word;
}

bool has_instruction() {
#ifdef __x86_64__
    static const bool has = __builtin_cpu_supports("sse4.2") != 0;
#elif defined __aarch64__
    static const bool has = (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
    constexpr bool has = false;
#endif
    return has;
}

} // namespace

uint32_t crc32c_portable(uint32_t seed, const void *data, size_t length) noexcept {
    const auto *at = static_cast<const std::byte *>(data);
    uint32_t crc = ~seed;
    for (; length >= 8; at += 8, length -= 8) {
        const uint64_t word = load_little_endian(at) ^ crc;
        crc = 0;
        for (size_t k = 0; k < 8; ++k) {
            crc ^= slices[7 - k][(word >> (8 * k)) & 0xFF];
        }
    }
    for (; length > 0; ++at, --length) {
        crc = (crc >> 8) ^ slices[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xFF];
    }
    return ~crc;
}

#ifdef CD_HAVE_ISAL

uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept {
    constexpr size_t largest = size_t{1} << 30; // ISA-L takes the length as an int
    const auto *at = static_cast<const std::byte *>(data);
    uint32_t crc = ~seed;
    while (length > 0) {
        const size_t part = std::min(length, largest);
        crc = isa_l::crc32c(crc, at, static_cast<int>(part));
        at += part;
        length -= part;
    }
    return ~crc;
}

const char *crc32c_kernel() noexcept { return has_instruction() ? "isa-l" : "isa-l by tables"; }

#elif defined __aarch64__

namespace {

[[gnu::target("+crc")]] uint32_t crc32c_by_instruction(uint32_t seed, const std::byte *at,
                                                       size_t length) noexcept {
    uint32_t crc = ~seed;
    for (; length >= sizeof(uint64_t); at += sizeof(uint64_t), length -= sizeof(uint64_t)) {
        crc = __crc32cd(crc, load_little_endian(at));
    }
    for (; length > 0; ++at, --length) {
        crc = __crc32cb(crc, std::to_integer<uint8_t>(*at));
    }
    return ~crc;
}

} // namespace

uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept {
    return has_instruction()
               ? crc32c_by_instruction(seed, static_cast<const std::byte *>(data), length)
               : crc32c_portable(seed, data, length);
}

const char *crc32c_kernel() noexcept { return has_instruction() ? "armv8-crc" : "portable"; }

#else

const char *crc32c_kernel() noexcept { return "portable"; }

uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept {
    return crc32c_portable(seed, data, length);
}

#endif

namespace {

// Polynomials modulo that of the checksum. The top bit is the lowest power.
constexpr uint32_t one = 0x80000000;
constexpr uint32_t x_to_the_8th = one >> 8;

constexpr uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        product ^= (a & one) != 0 ? b : 0;
        b = (b >> 1) ^ ((b & 1) != 0 ? reversed_polynomial : 0);
    }
    return product;
}

constexpr uint32_t power(uint32_t base, uint64_t exponent) {
    uint32_t result = one;
    for (; exponent != 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? multiply(result, base) : result;
        base = multiply(base, base);
    }
    return result;
}

} // namespace

uint32_t join_crc32c(uint32_t first, uint32_t second, uint64_t second_length) noexcept {
    return multiply(first, power(x_to_the_8th, second_length)) ^ second;
}

uint32_t copy_crc32c_portable(uint32_t seed, void *to, const void *from, size_t length) noexcept {
    constexpr size_t block = 4096; // still in the nearest cache when it is read
    auto *target = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    for (size_t done = 0; done < length; done += block) {
        const size_t part = std::min(length - done, block);
        std::memcpy(target + done, source + done, part);
        seed = crc32c(seed, target + done, part);
    }
    return seed;
}

#ifdef __x86_64__

namespace {

// Moves a checksum up by a fixed number of bytes, by a table for each of its bytes.
template <size_t Distance> class MoveUp {
public:
    MoveUp() {
        for (uint32_t byte = 0; byte < 256; ++byte) {
            for (size_t k = 0; k < 4; ++k) {
                contributions_[k][byte] = join_crc32c(byte << (8 * k), 0, Distance);
            }
        }
    }

    uint32_t operator()(uint64_t crc) const {
        return contributions_[0][crc & 0xFF] ^ contributions_[1][(crc >> 8) & 0xFF] ^
               contributions_[2][(crc >> 16) & 0xFF] ^ contributions_[3][(crc >> 24) & 0xFF];
    }

private:
    std::array<std::array<uint32_t, 256>, 4> contributions_;
};

// A cache line, read once, so that the checksum fits what is written.
struct CacheLine {
    explicit CacheLine(const std::byte *from) {
        const auto *at = reinterpret_cast<const __m128i *>(from);
        for (size_t k = 0; k < std::size(quarters); ++k) {
            quarters[k] = _mm_loadu_si128(at + k);
        }
    }

    template <Target T> void write(std::byte *to) const {
        auto *at = reinterpret_cast<__m128i *>(to);
        for (size_t k = 0; k < std::size(quarters); ++k) {
            if constexpr (T == Target::past_caches) {
                _mm_stream_si128(at + k, quarters[k]);
            } else {
                _mm_storeu_si128(at + k, quarters[k]);
            }
        }
    }

    uint64_t low(size_t k) const { return static_cast<uint64_t>(_mm_cvtsi128_si64(quarters[k])); }
    [[gnu::target("sse4.2")]] uint64_t high(size_t k) const {
        return static_cast<uint64_t>(_mm_extract_epi64(quarters[k], 1));
    }

    __m128i quarters[4];
};

// Copies three parts at once: the instruction takes three cycles for eight bytes, and starts in
// each cycle.
template <Target T, size_t Part>
[[gnu::target("sse4.2")]] uint64_t copy_thirds(uint64_t crc, CopyRest &rest) {
    constexpr size_t ahead = 8 * cache_line; // measured
    static const MoveUp<Part> move_up;
    while (rest.length >= 3 * Part) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t at = 0; at < Part; at += cache_line) {
            const std::byte *from = rest.from + at;
            std::byte *to = rest.to + at;
            _mm_prefetch(from + ahead, _MM_HINT_T0);
            _mm_prefetch(from + Part + ahead, _MM_HINT_T0);
            _mm_prefetch(from + 2 * Part + ahead, _MM_HINT_T0);
            const CacheLine a(from);
            const CacheLine b(from + Part);
            const CacheLine c(from + 2 * Part);
            a.write<T>(to);
            b.write<T>(to + Part);
            c.write<T>(to + 2 * Part);
            for (size_t k = 0; k < std::size(a.quarters); ++k) {
                crc = _mm_crc32_u64(crc, a.low(k));
                second = _mm_crc32_u64(second, b.low(k));
                third = _mm_crc32_u64(third, c.low(k));
                crc = _mm_crc32_u64(crc, a.high(k));
                second = _mm_crc32_u64(second, b.high(k));
                third = _mm_crc32_u64(third, c.high(k));
            }
        }
        crc = move_up(move_up(crc) ^ second) ^ third;
        rest.advance(3 * Part);
    }
    return crc;
}

[[gnu::target("sse4.2")]] uint64_t copy_bytes(uint64_t crc, CopyRest &rest, size_t length) {
    for (; length > 0; --length, rest.advance(1)) {
        const std::byte byte = *static_cast<const volatile std::byte *>(rest.from);
        *rest.to = byte;
        crc = _mm_crc32_u8(static_cast<uint32_t>(crc), std::to_integer<uint8_t>(byte));
    }
    return crc;
}

[[gnu::target("sse4.2")]] uint64_t copy_words(uint64_t crc, CopyRest &rest) {
    for (; rest.length >= sizeof(uint64_t); rest.advance(sizeof(uint64_t))) {
        const auto word = static_cast<uint64_t>(
            _mm_cvtsi128_si64(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(rest.from))));
        std::memcpy(rest.to, &word, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    return copy_bytes(crc, rest, rest.length);
}

template <Target T>
uint32_t copy_by_instruction(uint32_t seed, void *to, const void *from, size_t length,
                             bool folding) {
    CopyRest rest{static_cast<std::byte *>(to), static_cast<const std::byte *>(from), length};
    const size_t past_line = reinterpret_cast<uintptr_t>(to) % cache_line;
    uint64_t crc = copy_bytes(~seed, rest, std::min(length, (cache_line - past_line) % cache_line));
    if (folding) {
        crc = copy_folding_crc32c<T>(crc, rest);
    }
    // Long parts suit the prefetchers. A multiple of a page would take up to six times as long.
    crc = copy_thirds<T, 252 * cache_line>(crc, rest);
    crc = copy_thirds<T, 63 * cache_line>(crc, rest);
    crc = copy_thirds<T, 21 * cache_line>(crc, rest); // nearly a page in all
    crc = copy_thirds<T, 2 * cache_line>(crc, rest);
    crc = copy_words(crc, rest);
    return ~static_cast<uint32_t>(crc);
}

template <Target T>
uint32_t copy_as_fast_as_possible(uint32_t seed, void *to, const void *from, size_t length) {
    return has_instruction() ? copy_by_instruction<T>(seed, to, from, length, can_fold_crc32c())
                             : copy_crc32c_portable(seed, to, from, length);
}

} // namespace

uint32_t copy_crc32c(uint32_t seed, void *to, const void *from, size_t length) noexcept {
    return copy_as_fast_as_possible<Target::cached>(seed, to, from, length);
}

uint32_t copy_crc32c_past_caches(uint32_t seed, void *to, const void *from,
                                 size_t length) noexcept {
    return copy_as_fast_as_possible<Target::past_caches>(seed, to, from, length);
}

uint32_t copy_crc32c_by_words(uint32_t seed, void *to, const void *from, size_t length) noexcept {
    return has_instruction()
               ? copy_by_instruction<Target::past_caches>(seed, to, from, length, false)
               : copy_crc32c_portable(seed, to, from, length);
}

void finish_past_caches() noexcept { _mm_sfence(); }

const char *copy_crc32c_kernel() noexcept {
    return can_fold_crc32c() ? "avx2" : has_instruction() ? "sse4.2" : crc32c_kernel();
}

#else

void finish_past_caches() noexcept {}

const char *copy_crc32c_kernel() noexcept { return crc32c_kernel(); }

uint32_t copy_crc32c_by_words(uint32_t seed, void *to, const void *from, size_t length) noexcept {
    return copy_crc32c_portable(seed, to, from, length);
}

uint32_t copy_crc32c(uint32_t seed, void *to, const void *from, size_t length) noexcept {
    return copy_crc32c_portable(seed, to, from, length);
}

uint32_t copy_crc32c_past_caches(uint32_t seed, void *to, const void *from,
                                 size_t length) noexcept {
    return copy_crc32c_portable(seed, to, from, length);
}

#endif

} // namespace cd
