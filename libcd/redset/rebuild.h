// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/encode.h"
#include "redset/survey.h"

#include <memory>

namespace cd::redset {

class MemberRebuild;

// Rebuilds what a set has lost since apply(): files of members, with mode and times, scheme files,
// descriptors and checksums. Intact files are not touched. Collective, also for members that have
// lost everything; all get the same status. On a failure old files stay, unless giving the new ones
// their names failed half-way. `survey` receives what was found. May throw std::bad_alloc.
Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey);

// The steps of rebuild(), for callers that rebuild several sets or none. No file changes before
// publish().
class Rebuild {
public:
    // All arguments must outlive it.
    Rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
            Survey &survey);
    Rebuild(const Rebuild &) = delete;
    Rebuild &operator=(const Rebuild &) = delete;
    ~Rebuild(); // removes what is not published

    Status look();    // fails if names, sizes and headers show that too much is lost
    Status prepare(); // reads, compares, and writes new files beside the names of the old ones
    Status publish();

private:
    Exchange &exchange_;
    const Set &set_;
    const Place &place_;
    const Options &options_;
    Survey &survey_;
    std::unique_ptr<MemberRebuild> member_; // what this member has prepared
};

// Rebuilds a set of which all members have taken a survey with Contents::compared.
Status rebuild_surveyed(Exchange &exchange, const Set &set, const Place &place,
                        const Options &options, const Survey &survey);

} // namespace cd::redset
