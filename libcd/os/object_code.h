// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/loaded_objects.h"

#include <link.h>

#include <cstddef>
#include <functional>

namespace cd::os {

// The loader knows the program itself as "".
inline bool is_program(const dl_phdr_info &info) {
    return info.dlpi_name == nullptr || *info.dlpi_name == '\0';
}

// What of a loaded object is the same in each process that runs it, and hardly ever the same in
// those that run another build: its code, and its constants; of a program also its data as they
// begin.

// Whether the object has any. Not where the loader writes into the code, nor in a library where
// only data that may have changed tell where others lie, nor in a program whose file is not there,
// as without /proc.
bool has_fixed_code(const dl_phdr_info &info);

// Calls visit for one part of it after the other. false: the object is not loaded any more, or the
// program's file cannot be read. visit loads and unloads nothing.
bool for_each_part_of_code(const DataSegment &object,
                           const std::function<void(const void *part, size_t length)> &visit);

} // namespace cd::os
