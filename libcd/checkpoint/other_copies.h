// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"
#include "checkpoint/job.h"
#include "checkpoint/redundancy_sets.h"

namespace cd::checkpoint {

// For a point in time of which more is damaged near the ranks than sets can bring back: whole
// copies from elsewhere take the place of what is, each read and compared before that. taken:
// whether sets can bring back what is still damaged; otherwise nothing has changed. place: of this
// rank's files. All ranks call it and get the same outcome. Does not throw.
Status take_other_copies(Job &job, const CheckpointDir &folder, const Findings &findings,
                         const CheckpointId &point, const Division &division,
                         const redset::Place &place, bool sync, bool &taken);

} // namespace cd::checkpoint
