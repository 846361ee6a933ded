// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/apply.h"
#include "redset/survey.h"

namespace cd::redset {

// Brings a set back to what it was after apply(): files of members, with mode and times, and what
// redset and we wrote; what is as it was is not touched. All members call it, also those that have
// nothing any more, and all get the same outcome. On a failure every file is as it was before, but
// for the names that some rebuilt files may have taken when giving them fails half-way. survey
// tells what was found. May throw std::bad_alloc.
Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey);

// The same where all members have taken a survey, contents compared, which is believed.
Status rebuild_surveyed(Exchange &exchange, const Set &set, const Place &place,
                        const Options &options, const Survey &survey);

} // namespace cd::redset
