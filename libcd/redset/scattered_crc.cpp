// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scattered_crc.h"

#include "memory/crc32c.h"
#include "memory/crc32c_join.h"

#include <algorithm>

namespace cd::redset {

void ScatteredCrc::add(uint64_t offset, std::span<const std::byte> bytes) {
    auto run = std::find_if(runs_.begin(), runs_.end(),
                            [offset](const Run &each) { return each.end == offset; });
    if (run == runs_.end()) {
        run = runs_.insert(run, {offset, offset, 0});
    }
    run->crc = crc32c(run->crc, bytes.data(), bytes.size());
    run->end += bytes.size();
}

uint32_t ScatteredCrc::whole() const {
    std::vector<Run> runs = runs_;
    std::sort(runs.begin(), runs.end(),
              [](const Run &a, const Run &b) { return a.begin < b.begin; });
    uint32_t crc = 0;
    for (const Run &run : runs) {
        crc = join_crc32c(crc, run.crc, run.end - run.begin);
    }
    return crc;
}

} // namespace cd::redset
