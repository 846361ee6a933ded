// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/remains.h"
#include "redset/survey.h"

#include <string>

namespace cd::redset {

// Why a member's header, before anything else of the set is known, tells nothing: "" if it does.
std::string why_it_tells_nothing(const Survey &survey, int member, const Remains &remains);

// Whether this member's own files are as they were, by what the survey knows of all of them. May
// throw std::bad_alloc.
MemberState own_state(const Set &set, const Survey &survey, int self, const Place &place,
                      const Remains &remains, Contents contents, const Looked &looked);

} // namespace cd::redset
