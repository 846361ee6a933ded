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

// Where a file that holder has stands now; it must still be the one that was added.
Status read_held_position(const Domain &holder, const FilePosition &added, FilePosition &now);

// The same of all files that the domain holds, in their order. May throw std::bad_alloc.
Status read_positions(const Domain &domain, std::vector<FilePosition> &positions);

// Sets a file that holder has to its position.
Status set_position(const Domain &holder, const FilePosition &file);

} // namespace cd
