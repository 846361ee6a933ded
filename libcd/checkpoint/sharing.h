// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/folder.h"
#include "checkpoint/job.h"

#include <vector>

namespace cd::checkpoint {

// Everybody's contents, of which a rank that does not speak has none.
Status share(Job &job, Status own, const Content &content, std::vector<Content> &contents);

} // namespace cd::checkpoint
