// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstdint>
#include <optional>

namespace cd {

// The point in time that a program starts from.
struct RestartChoice {
    bool afresh = false;           // from none, with empty CDs
    std::optional<uint64_t> epoch; // from this one; not given: from the newest
};

// Parses the value of CD_RESTART; nullptr or "": not set.
Status parse_restart_choice(const char *text, RestartChoice &choice);

} // namespace cd
