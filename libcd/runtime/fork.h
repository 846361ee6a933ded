// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

namespace cd {

// Registers the handlers with which fork() leaves both processes with working CDs, also from inside
// a function that the library called. CDs of other threads are active nowhere in the new process.
// Fails without memory.
Status support_fork();

} // namespace cd
