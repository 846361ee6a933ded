// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/survey.h"

#include <string>
#include <vector>

namespace cd::redset {

// Where a member's files can be: several places where a restart copied them to another node, and
// left those that were there.
using Copies = std::vector<Place>;

// A copy that was looked at, and is not as it was.
struct PassedOver {
    int member = 0;
    std::string folder;
    MemberState state;
};

struct Choice {
    std::vector<Place> places; // of each member one
    std::vector<Survey>
        surveys; // what each found there, if they looked there last, contents compared
    std::vector<PassedOver> passed_over; // for these
};

// For members in this process: of each its place that has the most left, contents compared with
// checksums, and of those that have as much the first. Only reads, and only where there is anything
// to choose. looked: of all members, each time that they look. May throw.
Choice choose_copies(const Set &set, const std::vector<Copies> &copies, const Looked &looked);

// take_survey() by all members in this process; looked: of all of them.
Status survey_all(const Set &set, const std::vector<Place> &places, Contents contents,
                  Survey &survey, const Looked &looked);

} // namespace cd::redset
