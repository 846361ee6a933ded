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
    uintptr_t base = 0;            // offsets in the object count from here
    std::string object;            // its file's name without the directory
    std::string build_id;          // in hexadecimal; "": its linker has given it none
    bool program = false;          // it is that, and no library
    const void *headers = nullptr; // identifies the object among the loaded ones
};

// Those of all objects that have a build-id, or code by which they are told from other builds
// (object_code.h), in order of address. May throw std::bad_alloc.
std::vector<DataSegment> data_segments();

// Changes when an object is loaded or unloaded.
uint64_t loading_count();

} // namespace cd::os
