// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Wraps the functions of ISA-L that the library calls. They leave the upper halves of the vector
// registers in use, which may make SSE loops of the program take twice as long.
#pragma once

#include <isa-l/crc.h>
#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

#include <cstddef>
#include <cstdint>

namespace cd::isa_l {

// Frees the upper halves at its end.
class Use {
public:
    Use() = default;
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;
    ~Use() {
#ifdef __x86_64__
        static const bool has_them = [] {
            __builtin_cpu_init();
            return __builtin_cpu_supports("avx") != 0;
        }();
        if (has_them) {
            asm volatile("vzeroupper" : : : "memory");
        }
#endif
    }
};

// Computes a CRC-32C without the inversion at either end. Some versions of ISA-L take the pointer
// without const.
inline uint32_t crc32c(uint32_t crc, const void *data, int length) noexcept {
    const Use use;
    return crc32_iscsi(static_cast<unsigned char *>(const_cast<void *>(data)), length, crc);
}

// Computes the CRC-32 of gzip.
inline uint32_t crc32(const void *data, size_t length) noexcept {
    const Use use;
    return crc32_gzip_refl(0, static_cast<const unsigned char *>(data), length);
}

// Adds up blocks (XOR): the last address receives the sum of the others.
inline void sum(int blocks, int length, void **addresses) noexcept {
    const Use use;
    xor_gen(blocks, length, addresses);
}

// Bytes of tables for each coefficient.
constexpr size_t table_size = 32;

// Makes the tables for encode(). coefficients: a row of sources for each output.
inline void make_tables(int sources, int outputs, const unsigned char *coefficients,
                        unsigned char *tables) noexcept {
    const Use use;
    ec_init_tables(sources, outputs, const_cast<unsigned char *>(coefficients), tables);
}

inline void encode(int length, int sources, int outputs, unsigned char *tables,
                   unsigned char **from, unsigned char **to) noexcept {
    const Use use;
    ec_encode_data(length, sources, outputs, tables, from, to);
}

} // namespace cd::isa_l
