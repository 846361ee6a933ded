// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdlib>

// Communicators that MPI frees when the program does: from now on, all that a program makes while
// it logs.
inline void make_communicators_mortal() { setenv("CD_COMMS_KEPT", "0", 1); }
