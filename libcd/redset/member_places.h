// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/copies.h"
#include "redset/dividing.h"

#include <functional>
#include <string>
#include <vector>

namespace cd::redset {

// What a rank's only file is called in directories that name a time, which is known also where no
// header tells of it; empty: nobody knows.
using OnlyFile = std::function<std::string(int rank)>;

// Where each member's files are, or belong: beside each of its scheme files, be it one that cannot
// be read, if it lies in a directory that names the set's time; where these files are not there, in
// any directory of that time. Names of stored files are taken from the directory above that has
// them, at most from the one given. A lost member's belong where those of another are.
std::vector<Copies> places_of(const Members &members, const Set &set, const SchemeSearch &search,
                              const NamesATime &names_a_time, const OnlyFile &only_file);

} // namespace cd::redset
