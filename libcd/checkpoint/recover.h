// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/inventory.h"
#include "checkpoint/job.h"

namespace cd::checkpoint {

// Brings each rank's files of a checkpoint to where the rank is now. Files on other nodes are
// copied and lost files are rebuilt. division: gets the sets that protect the checkpoint. All ranks
// get the same outcome. After CD_ERROR_REDUNDANCY_EXCEEDED and CD_ERROR_STORE_DAMAGED another
// checkpoint may still be recovered. Does not throw.
Status recover(Job &job, const CheckpointDir &folder, const Inventory &inventory,
               const CheckpointId &id, bool sync, Division &division);

} // namespace cd::checkpoint
