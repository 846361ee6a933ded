// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <filesystem>

namespace cd::redset {

// Where a directory is, or will be once it is made. A link that leads to nothing may lead somewhere
// by then, and so may what goes up from what is not there.
Status real_directory(const std::filesystem::path &directory, std::filesystem::path &real);

} // namespace cd::redset
