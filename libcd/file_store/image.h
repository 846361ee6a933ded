// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"
#include "file_store/superblock.h"

namespace cd {

// Writes the newest point in time of the root, as state has it, into an empty file: a store file of
// its own with nothing else in it. source: where the data are. They are compared with their
// checksums on the way, so that damage is an error and never copied. What is in the file after an
// error is no store. Forces nothing to the disk. May throw std::bad_alloc.
Status write_image(const File &source, const Superblock &identity, State state, const File &image);

} // namespace cd
