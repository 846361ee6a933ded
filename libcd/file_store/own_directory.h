// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <string>

namespace cd {

// Of the names of directories with points in time that survive nodes, beside the stores.
constexpr char end_of_points[] = ".points";

// The directory for this user's files where people name one: itself, or, where all may write to it
// and remove only what is theirs, as to /tmp and /dev/shm, one in it with the user's number.
// Whoever makes that one first has it; Directory refuses it if that was somebody else. What is
// stored does not get out of sight when the modes change: an own one that is there already is taken
// in any case, and what was the user's alone, and has stores, stays the one, which Directory
// refuses while all may write to it. What cannot be looked at now is an error: it must not be taken
// for another one, without the stores that are there. May throw std::bad_alloc.
Status own_directory(const std::string &named, std::string &own);

} // namespace cd
