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
    // The sets outlive it. paths: of all descriptors below what was given. May throw, as all of it.
    Descriptors(const std::vector<const FoundSet *> &sets, const std::vector<std::string> &paths);

    // Others of which a member's descriptor is in the same file.
    std::vector<const FoundSet *> beside(const FoundSet &found) const;

    // One of a set of which no scheme file was found.
    struct OfAnother {
        std::string path;
        Descriptor descriptor;

        std::string tells() const; // "PATH tells of set ..., of which no scheme file was found"
    };

    // A member's, which is neither of the set nor of one beside it; or one that is no found set's,
    // nor of the same division, in a directory with its scheme files, or in one without any which
    // is below where its files are.
    std::optional<OfAnother> of_another(const FoundSet &found) const;

    // Of those that are in no found set's place one for each set. Not of such a division as a set
    // in their directory, which tells of it.
    std::vector<OfAnother> alone() const;

private:
    struct Own {
        std::string path;
        std::string real; // wherever links lead
        int rank;
    };

    void add_unless_known(const std::string &path, const std::string &real);
    bool is_near(const std::string &real, const FoundSet &found) const;
    static bool is_of(const Descriptor &descriptor, const FoundSet &found);

    std::map<const FoundSet *, std::vector<Own>> descriptors_;
    std::map<const FoundSet *, std::set<std::string>> directories_; // real ones, of scheme files
    std::map<const FoundSet *, std::set<std::string>> bases_; // the same, that names are taken from
    std::map<std::string, std::vector<const FoundSet *>> whose_;     // by real path
    std::map<std::string, std::set<const FoundSet *>> in_directory_; // the same
    std::map<std::string, OfAnother> of_none_;                       // by real path
};

} // namespace cd::redset
