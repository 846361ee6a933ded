// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/inventory.h"
#include "checkpoint/job.h"

#include <vector>

namespace cd::checkpoint {

// Copies files to where they are needed, by pieces, all of them at the same time. All ranks call it
// with the same transfers. A file that its holder cannot read stays away, as if it were lost; what
// the receiver cannot write, or has no room for, is everybody's failure, before any of it is sent
// where that can be known. Does not throw.
Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                  const std::vector<Transfer> &transfers, bool sync);

} // namespace cd::checkpoint
