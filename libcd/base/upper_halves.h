// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd {

// To be called after functions of ISA-L, which leave something in the upper halves of the vector
// registers: processors keep these through each instruction of SSE, of which most programs are
// made, and a loop of the program's may take twice as long from then on.
inline void clear_upper_halves() noexcept {
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

} // namespace cd
