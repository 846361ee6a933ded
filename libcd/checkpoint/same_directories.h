// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/handshake.h"

namespace cd::checkpoint {

// Stores that are one directory on all nodes, by whichever names, become one.
// CD_ERROR_STORAGE_VALUE where they are so on some nodes only, and for that of flush=, from which
// others would be removed with what it has: all ranks are told by which names one of them has it.
// All ranks get the same outcome. Does not throw.
Status keep_each_once(Job &job, const Request &request, Introduced &introduced);

} // namespace cd::checkpoint
