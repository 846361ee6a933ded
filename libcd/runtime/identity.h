// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <string>

namespace cd {

// The rank of this process: as MPI told through set_rank(), else from the launcher's environment,
// else 0. Where a variable there has no rank, people are told, and the next one counts.
int current_rank();
void set_rank(int rank);

// Whether a root may have this name: it becomes part of identities and of file names.
Status check_root_name(const char *name);

// "rank/name/depth/sibling". May throw std::bad_alloc.
std::string make_identity(int rank, const std::string &root_name, int depth, int sibling);

} // namespace cd
