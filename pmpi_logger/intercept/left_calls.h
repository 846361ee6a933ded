// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Whether a function of the program that MPI has called, as an error handler, has left MPI and the
// logger by longjmp(): since then this thread seems to be inside of MPI, and nothing that it calls
// is recorded. Looks at all of the stack. To be called by libcd, for the program.
bool has_left_a_call();

} // namespace cd::logger
