// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/loaded_objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

namespace cd::os {
namespace {

std::string changed_text = "of this program";
// The loader has to write the address, and nobody else.
std::string *const relocated = &changed_text;

bool is_in_a_segment(const void *at) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return std::ranges::any_of(data_segments(), [&](const DataSegment &segment) {
        return segment.begin <= address && address < segment.end;
    });
}

// Returns the ends of writable mappings by their begins.
std::map<uintptr_t, uintptr_t> writable_mappings() {
    std::map<uintptr_t, uintptr_t> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0;
        uintptr_t end = 0;
        char dash = 0;
        std::string access;
        std::istringstream(line) >> std::hex >> begin >> dash >> end >> access;
        if (access.find('w') != std::string::npos) {
            found[begin] = end;
        }
    }
    return found;
}

TEST(LoadedObjects, AllOfTheirDataCanBeWrittenTo) {
    const std::map<uintptr_t, uintptr_t> writable = writable_mappings();
    size_t segments = 0;
    for (const DataSegment &segment : data_segments()) {
        ASSERT_LT(segment.begin, segment.end);
        for (uintptr_t at = segment.begin; at < segment.end; ++segments) {
            const auto behind = writable.upper_bound(at);
            ASSERT_TRUE(behind != writable.begin() && std::prev(behind)->second > at)
                << segment.object << " at " << std::hex << at - segment.base;
            at = std::prev(behind)->second;
        }
    }
    EXPECT_GT(segments, 2U);
    EXPECT_TRUE(is_in_a_segment(&changed_text));
    EXPECT_FALSE(is_in_a_segment(&relocated));
}

} // namespace
} // namespace cd::os
