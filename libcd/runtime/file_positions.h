// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "domains/domain.h"

#include <vector>

namespace cd {

// The operating system's side of file positions.

// Where descriptor, which domain holds or is to hold, stands now, and which file it names.
Status read_position(const Domain &domain, int descriptor, FilePosition &file);

// Whether now is the file that was added on its descriptor.
Status check_same_file(const Domain &domain, const FilePosition &added, const FilePosition &now);

// Where the files of the table stand now, in its order; each must still be the file that was
// added. May throw std::bad_alloc.
Status read_positions(const Domain &domain, const FileTable &files,
                      std::vector<FilePosition> &positions);

// Sets every file of the table to its position.
Status set_positions(const Domain &domain, const FileTable &files);

} // namespace cd
