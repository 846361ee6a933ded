// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cd::os {

// A stretch of memory in which a loaded program or shared library keeps its writable data.
struct DataSegment {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    uintptr_t base = 0;   // offsets in the object count from here
    std::string object;   // its file's name without the directory
    std::string build_id; // in hexadecimal; "": it has none
    bool program = false; // the running program, not a library
};

// Returns the segments of all loaded objects in order of address. May throw std::bad_alloc.
std::vector<DataSegment> data_segments();

// Changes when an object is loaded or unloaded.
uint64_t loading_count();

} // namespace cd::os
