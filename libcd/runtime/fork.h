// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

namespace cd {

// From the first call on, fork() leaves both processes with working CDs: no lock is held and no
// operation is half done in the copy, and what was active in other threads is active nowhere there.
// Also from inside a function of the application that the library called. CD_ERROR_NO_MEMORY where
// that cannot be had.
Status support_fork();

} // namespace cd
