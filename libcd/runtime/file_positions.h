// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "domains/domain.h"

#include <vector>

namespace cd {

// File positions in the operating system.

// Reads the position and the identity of the descriptor's file. domain is named in errors.
Status read_position(const Domain &domain, int descriptor, FilePosition &file);

// Fails unless now is the file that was added on its descriptor.
Status check_same_file(const Domain &domain, const FilePosition &added, const FilePosition &now);

// Reads the position of a file that holder holds. Fails if the descriptor names another file.
Status read_held_position(const Domain &holder, const FilePosition &added, FilePosition &now);

// Reads the positions of all files that the domain holds, in their order. May throw std::bad_alloc.
Status read_positions(const Domain &domain, std::vector<FilePosition> &positions);

// Sets the file back to its position.
Status set_position(const Domain &holder, const FilePosition &file);

} // namespace cd
