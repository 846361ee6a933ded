// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/point.h"
#include "redset/offline.h"

#include <set>
#include <string>
#include <vector>

namespace cdctl {

// Attempts to protect points in time, as far as directories below these tell which have counted.
class Attempts {
public:
    explicit Attempts(const std::vector<std::string> &directories);

    // Whether the set is of an attempt, and no rank has learnt that all had stored theirs.
    bool never_counted(const cd::redset::FoundSet &found) const;

private:
    std::set<cd::protection::Point> counted_;
};

} // namespace cdctl
