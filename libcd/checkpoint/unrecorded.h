// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"

namespace cd::checkpoint {

// Whether what is found of an attempt may be brought back, as far as names tell, be it that no
// record says that it counted: records can be lost like other files. What nobody has may be on a
// node that is not there.
bool may_be_brought_back(const Findings &findings, const CheckpointId &point);

} // namespace cd::checkpoint
