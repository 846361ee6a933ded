// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstdint>
#include <optional>

namespace cd {

// Which point in time a program starts from.
struct RestartChoice {
    bool afresh = false;           // none
    std::optional<uint64_t> epoch; // else that one; not given: the newest
};

// text: what CD_RESTART is, nullptr or "" where it is not set.
Status parse_restart_choice(const char *text, RestartChoice &choice);

} // namespace cd
