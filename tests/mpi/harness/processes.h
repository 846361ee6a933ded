// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::scenarios {

// The program that scenarios spawn: this one with an option that calls be_a_child().
extern const char *this_program;
inline constexpr const char *child_option = "--child";

// Its first rank sends 17 to the parent and receives an answer.
int be_a_child();

} // namespace cd::scenarios
