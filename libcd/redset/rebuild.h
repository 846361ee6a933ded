// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/encode.h"
#include "redset/survey.h"

#include <memory>

namespace cd::redset {

class MemberRebuild;

// Brings a set back to what it was after apply(): files of members, with mode and times, and what
// redset and we wrote; what is as it was is not touched. All members call it, also those that have
// nothing any more, and all get the same outcome. On a failure every file is as it was before, but
// for the names that some rebuilt files may have taken when giving them fails half-way. survey
// tells what was found. May throw std::bad_alloc.
Status rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
               Survey &survey);

// The same by steps, each after the one before, for who has several sets and wants all of them or
// none: until publish() no file has changed.
class Rebuild {
public:
    // All of these outlive it.
    Rebuild(Exchange &exchange, const Set &set, const Place &place, const Options &options,
            Survey &survey);
    Rebuild(const Rebuild &) = delete;
    Rebuild &operator=(const Rebuild &) = delete;
    ~Rebuild(); // with what is not published

    Status look();    // whether names, sizes and headers tell of too much that is lost
    Status prepare(); // reads, compares, and writes what has no name yet
    Status publish();

private:
    Exchange &exchange_;
    const Set &set_;
    const Place &place_;
    const Options &options_;
    Survey &survey_;
    std::unique_ptr<MemberRebuild> member_; // what this member has prepared
};

// The same where all members have taken a survey, contents compared, which is believed.
Status rebuild_surveyed(Exchange &exchange, const Set &set, const Place &place,
                        const Options &options, const Survey &survey);

} // namespace cd::redset
