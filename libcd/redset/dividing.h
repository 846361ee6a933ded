// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/scheme_search.h"

#include <vector>

namespace cd::redset {

using Members = std::vector<const SchemeFile *>; // of one set at one time, with copies

// Which scheme files belong together. The same job may have left several sets of the same numbers,
// of different times, in directories of their own: what does not contradict belongs together, first
// of all what is in one directory. Where directories name the time, it is enough that files tell of
// the same set: which one of those that contradict otherwise is damaged is found by a survey.
std::vector<Members> divide(const std::vector<SchemeFile> &files, const NamesATime &names_a_time);

} // namespace cd::redset
