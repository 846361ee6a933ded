// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <string>

namespace cd {

// Returns the rank of this process: from set_rank(), else from the launcher's environment, else 0.
// Warns once about a variable that holds no rank.
int current_rank();
void set_rank(int rank);

// Fails if a root may not have this name, which becomes part of file names.
Status check_root_name(const char *name);

// Returns "rank/name/depth/sibling". May throw std::bad_alloc.
std::string make_identity(int rank, const std::string &root_name, int depth, int sibling);

} // namespace cd
