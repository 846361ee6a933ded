// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/unrecorded.h"

#include "redset/scan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cd::checkpoint {
namespace {

struct SetOfNames {
    int cover = 0;         // members that may be lost, at most
    int without_image = 0; // that are known
};

int largest_cover(const redset::SchemeName &name) {
    switch (name.scheme) {
    case Scheme::single:
        return 0;
    case Scheme::xor_set:
        return 1;
    default: // the name does not say
        return name.members - 1;
    }
}

std::map<int, std::set<std::string>> names_by_rank(const Findings &findings,
                                                   const CheckpointId &point) {
    std::map<int, std::set<std::string>> names;
    for (const Content &content : findings.contents) {
        const auto found = content.points.find(point);
        if (found == content.points.end()) {
            continue;
        }
        for (const auto &[rank, files] : found->second) {
            for (const auto &[name, size] : files.sizes) {
                names[rank].insert(name);
            }
        }
    }
    return names;
}

} // namespace

// A scheme file is there when all of its set have written their images, so that who has an image
// alone has all that is needed of it.
bool may_be_brought_back(const Findings &findings, const CheckpointId &point) {
    std::map<int, SetOfNames> sets;
    int groups = 0;
    bool image_alone = false;
    for (const auto &[rank, names] : names_by_rank(findings, point)) {
        const bool has_image = names.contains(image_name(rank));
        bool has_scheme_file = false;
        for (const std::string &name : names) {
            if (const auto scheme = redset::scheme_name_of(name)) {
                SetOfNames &set = sets[scheme->group];
                set.cover = largest_cover(*scheme);
                set.without_image += has_image ? 0 : 1;
                groups = std::max(groups, scheme->groups);
                has_scheme_file = true;
            }
        }
        image_alone = image_alone || (has_image && !has_scheme_file);
    }
    const bool covered = std::ranges::all_of(
        sets, [](const auto &set) { return set.second.without_image <= set.second.cover; });
    const bool all_sets = std::cmp_equal(sets.size(), groups);
    return !sets.empty() && covered && (all_sets || !image_alone);
}

} // namespace cd::checkpoint
