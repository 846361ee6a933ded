// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/point.h"
#include "redset/offline.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cdctl {

// Attempts to protect points in time, as far as directories below these tell which have counted.
class Attempts {
public:
    explicit Attempts(const std::vector<std::string> &directories);

    enum class Standing {
        counts,     // or it is no attempt
        unfinished, // no record says that all ranks had it, and another of its level counts
        unrecorded, // the same, and none counts: records may have been lost
    };
    Standing of(const cd::redset::FoundSet &found) const;

    // Whether programs start from anything of that root.
    bool root_counts(const cd::redset::FoundSet &found) const;

private:
    // By the root's name.
    std::map<std::string, std::set<cd::protection::Point>> counted_;
};

// Of one attempt, with all of its sets: writes down for each rank that all had it.
// CD_ERROR_ARGUMENT where sets are missing.
cd::Status agree_on(const std::vector<const cd::redset::FoundSet *> &sets);

// The directory of an attempt that a set is of, or "".
std::string attempt_of(const cd::redset::FoundSet &found);

} // namespace cdctl
