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
        std::string directory; // wherever links lead
        bool is_foreign;       // sets with scheme files there are of other divisions
    };

    // A member's, which is neither of the set nor of one beside it; or a foreign one in a directory
    // with its scheme files, in no found set's place.
    std::optional<OfAnother> of_another(const FoundSet &found) const;

    // All below where its files are, but for those of sets of the same time. What is told of may be
    // an older or a newer time of the same files, or neither. May have one twice.
    std::vector<const OfAnother *> alone_near(const FoundSet &found) const;

private:
    using Sets = std::vector<const FoundSet *>;
    struct Own {
        std::string path;
        std::string real; // wherever links lead
        int rank;
    };

    void add_unless_known(const std::string &path, const std::string &real);
    bool is_of(const Descriptor &told, const std::string &real, const FoundSet &found) const;
    bool may_be_of_its_time(const Descriptor &told, const std::string &real,
                            const FoundSet &found) const;
    bool is_spread(const FoundSet &found) const { return directories_.at(&found).size() > 1; }

    const Sets &all_;
    std::map<const FoundSet *, std::vector<Own>> descriptors_;
    std::map<const FoundSet *, std::set<std::string>> directories_; // real ones, of scheme files
    std::map<const FoundSet *, std::set<std::string>> bases_; // the same, that names are taken from
    std::map<std::string, Sets> whose_;                       // by real path
    std::map<std::string, Sets> in_directory_;                // the same
    std::map<std::string, OfAnother> of_none_;                // the same
};

} // namespace cd::redset
