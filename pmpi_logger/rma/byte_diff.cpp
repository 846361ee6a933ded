// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rma/byte_diff.h"

#include <algorithm>
#include <cstring>

namespace cd::logger {

void add_differences(const std::byte *a, const std::byte *b, size_t size, Runs &runs) {
    constexpr size_t block = 256; // memcmp is fast, and most blocks agree
    size_t begin = size;          // no run is open
    const auto end_run = [&](size_t end) {
        if (begin < end) {
            runs.push_back({begin, end - begin});
        }
        begin = size;
    };
    for (size_t at = 0; at < size; at += block) {
        const size_t end = std::min(size, at + block);
        if (std::memcmp(a + at, b + at, end - at) == 0) {
            end_run(at);
            continue;
        }
        for (size_t i = at; i < end; ++i) {
            if (a[i] == b[i]) {
                end_run(i);
            } else {
                begin = std::min(begin, i);
            }
        }
    }
    end_run(size);
}

void join_near(Runs &runs) {
    size_t kept = 0;
    for (size_t i = 1; i < runs.size(); ++i) {
        Run &last = runs[kept];
        if (runs[i].offset - (last.offset + last.length) <= sizeof(Run)) {
            last.length = runs[i].offset + runs[i].length - last.offset;
        } else {
            runs[++kept] = runs[i];
        }
    }
    runs.resize(std::min(runs.size(), kept + 1));
}

} // namespace cd::logger
