// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/header.h"
#include "redset/offline.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cd::redset {

// Which sets descriptors tell of. All sets of a prefix and rank have one file for theirs, and it
// tells of the one that was written last.
class Descriptors {
public:
    // They outlive it. May throw, as all of it.
    explicit Descriptors(const std::vector<const FoundSet *> &sets);

    // Others of which a member's descriptor is in the same file.
    std::vector<const FoundSet *> beside(const FoundSet &found) const;

    // A member's, which is neither of the set nor of one beside it: of that one no scheme file was
    // found.
    struct OfAnother {
        std::string path;
        Descriptor descriptor;
    };
    std::optional<OfAnother> of_another(const FoundSet &found) const;

private:
    static bool is_of_any(const Descriptor &descriptor, const std::vector<const FoundSet *> &sets);

    struct Own {
        std::string path;
        std::string real; // wherever links lead
        int rank;
    };

    std::map<const FoundSet *, std::vector<Own>> descriptors_;
    std::map<std::string, std::vector<const FoundSet *>> whose_; // by real path
};

} // namespace cd::redset
