// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <string>

namespace faults {

// All that can be known of every live CD, byte by byte, as text that two states can be compared by
// and that says where they differ: labels, origins, stored data, files, children, log; and who
// observes. How entries are split does not show. Also complains ("BROKEN") about what must not be
// between operations.
std::string snapshot();

// The same for what the stores in a folder say; where in the file it is does not show.
std::string stores_in(const std::string &folder);

} // namespace faults
