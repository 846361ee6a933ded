// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "api/api_call.h"

#include <cstddef>

namespace cd {

// The next entry of the CD's log; nullptr at its end, and when it fails. Tells report when that was
// the last one of a replay.
Status next_entry(cd_handle cd, Report &report, void *&entry, size_t &length);

} // namespace cd
