// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The functions of ISA-L that the library calls, and the only place that calls them: they leave
// something in the upper halves of the vector registers. Processors keep these through each
// instruction of SSE, of which most programs are made, and a loop of the program's may take twice
// as long from then on.
#pragma once

#include <isa-l/crc.h>
#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

#include <cstddef>
#include <cstdint>

namespace cd::isa_l {

// Frees the upper halves when it goes.
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

// Without the inversion at either end. It does not write through the pointer, but some of its
// versions take it without const.
inline uint32_t crc32c(uint32_t crc, const void *data, int length) noexcept {
    const Use use;
    return crc32_iscsi(static_cast<unsigned char *>(const_cast<void *>(data)), length, crc);
}

// That of gzip.
inline uint32_t crc32(const void *data, size_t length) noexcept {
    const Use use;
    return crc32_gzip_refl(0, static_cast<const unsigned char *>(data), length);
}

// blocks: the sources and, last, where their sum goes.
inline void sum(int blocks, int length, void **addresses) noexcept {
    const Use use;
    xor_gen(blocks, length, addresses);
}

// So many bytes of tables has each coefficient.
constexpr size_t table_size = 32;

// coefficients: a row of sources for each output. It only reads them, but takes them without const.
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
