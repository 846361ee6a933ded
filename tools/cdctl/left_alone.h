// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "rebuilt_set.h"
#include "redset/descriptors.h"
#include "redset/rivals.h"

#include <map>
#include <vector>

namespace cdctl {

// Of sets that are no attempt's, those which are left alone: they may be of different times where
// others have their files. What would be written of a set is known when it has been looked at, and
// that of all is before anything is written. Of those that are not, descriptors that several have
// are left alone where they are of one of them.
class LeftAlone {
public:
    LeftAlone(std::vector<cd::redset::FoundSet> &sets, const Attempts &known, Arguments arguments);

    const Result *result_of(const cd::redset::FoundSet &found) const;

private:
    using FoundSet = cd::redset::FoundSet;

    void judge(const FoundSet &found, cd::redset::Rivals::Judgement judgement, bool is_lost);
    void judge(const FoundSet &found, const cd::redset::Descriptors::OfAnother &newer);

    std::map<const FoundSet *, Result> results_;
};

} // namespace cdctl
