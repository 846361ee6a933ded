// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/inventory.h"
#include "checkpoint/job.h"

#include <vector>

namespace cd::checkpoint {

// Copies files between ranks in pieces, all at the same time. Collective, with the same transfers.
// A file that its owner cannot read counts as lost. A file that its receiver cannot write is a
// failure of all ranks. Does not throw.
Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &id,
                  const std::vector<Transfer> &transfers, bool sync);

} // namespace cd::checkpoint
