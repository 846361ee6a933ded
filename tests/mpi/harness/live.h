// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::scenarios {

// All ranks talk to each other over MPI_COMM_WORLD, as nobody else does at that time. Throws a
// Failure if what arrives is not what was sent, or more arrives.
void talk_live();

} // namespace cd::scenarios
