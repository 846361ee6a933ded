// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "rebuilt_set.h"

#include <map>
#include <set>

namespace cdctl {

// Of sets that are no attempt's, those which are left alone: others may know better what the files
// were, or nobody knows. All are judged once, before anything is written, by what is there and what
// will be there once those are brought back of which there is no doubt; and that is what they are
// then. Of these, descriptors that several have are left where they are of one of them.
class LeftAlone {
public:
    // Settles where descriptors of its sets may be others'. May throw.
    LeftAlone(cd::redset::Search &search, const Attempts &known, Arguments arguments);

    // Nothing for a set that is not left alone. With a dry run it has, too, what others would have
    // to bring back first.
    const Result *result_of(const cd::redset::FoundSet &found) const;

    // Whether its turn comes after others, all of which have to be whole by then.
    bool builds_on_others(const cd::redset::FoundSet &found) const {
        return late_.contains(&found);
    }

    // Whether such others may count on it to be whole.
    bool may_be_built_on(const cd::redset::FoundSet &found) const {
        return looked_at_.contains(&found) && !results_.contains(&found);
    }

private:
    std::map<const cd::redset::FoundSet *, Result> results_;
    std::set<const cd::redset::FoundSet *> late_;
    std::set<const cd::redset::FoundSet *> looked_at_; // as others tell of their files, or may
};

} // namespace cdctl
