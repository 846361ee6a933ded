// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/exchange.h"

#include <functional>

namespace cd::redset {

// Runs all members of a set in this process, each in a thread of its own, and returns when all are
// done: the failure of the first member that failed, with its message.
Status run_members(int members, const std::function<Status(Exchange &)> &member);

} // namespace cd::redset
