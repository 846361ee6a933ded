// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"
#include "checkpoint/job.h"

#include <string>

namespace cd::checkpoint {

// Brings each rank's files of a point in time to where the rank is now: those that lie elsewhere
// are moved, and those that are lost rebuilt. division: the sets that protect it. All ranks get the
// same outcome; after CD_ERROR_REDUNDANCY_EXCEEDED, with which too much is lost, and
// CD_ERROR_STORE_DAMAGED another point in time may still be had. Does not throw.
Status bring(Job &job, const CheckpointDir &folder, const Findings &findings,
             const CheckpointId &point, bool sync, Division &division);

// Says what helps where too much is lost of all that was tried. restart: CD_RESTART, as it is.
Status with_remedy(Status status, const std::string &restart,
                   const std::vector<Elsewhere> &elsewhere);

} // namespace cd::checkpoint
