// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Finds a name in the library that has `address`, or in one that it needs. Returns nullptr if there
// is none, or if `address` is in the program itself.
void *find_symbol(const void *address, const char *name);

} // namespace cd::logger
