// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"

#include <cstddef>

namespace cd {

// Reads length bytes at offset of a run's data, and compares what they belong to with its
// checksums. After an error, to holds anything. May throw std::bad_alloc.
Status read_run(const File &file, const StoredRun &run, uint64_t offset, void *to, size_t length);

// Reads all of it and keeps nothing.
Status check_run(const File &file, const StoredRun &run);

} // namespace cd
