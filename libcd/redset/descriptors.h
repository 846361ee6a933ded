// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/header.h"
#include "redset/offline.h"

#include <map>
#include <optional>
#include <set>
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

    // A member's, which is neither of the set nor of one beside it, or one in a directory with its
    // scheme files that is no found set's, nor of the same division: of that one no scheme file was
    // found.
    struct OfAnother {
        std::string path;
        Descriptor descriptor;
    };
    std::optional<OfAnother> of_another(const FoundSet &found) const;

private:
    struct Own {
        std::string path;
        std::string real; // wherever links lead
        int rank;
    };

    void find_those_of_none(const std::string &directory,
                            const std::vector<const FoundSet *> &sets);
    static bool is_of_any(const Descriptor &descriptor, const std::vector<const FoundSet *> &sets);

    std::map<const FoundSet *, std::vector<Own>> descriptors_;
    std::map<const FoundSet *, std::set<std::string>> directories_;  // real ones, of scheme files
    std::map<std::string, std::vector<const FoundSet *>> whose_;     // by real path
    std::map<std::string, std::set<const FoundSet *>> in_directory_; // the same
    std::map<std::string, std::vector<OfAnother>> of_none_;          // by real directory
};

} // namespace cd::redset
