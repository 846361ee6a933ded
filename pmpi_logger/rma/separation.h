// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Whether a window or a persistent collective operation that is made now gets memory of ours, so
// that a CD that logs can use it. It does if a CD logs, or if the program is linked with libcd:
// they are made early. All others are MPI's own business, as without the logger.
// CD_WINDOWS=separate and =direct decide otherwise.
bool separate_memory_wanted();

} // namespace cd::logger
