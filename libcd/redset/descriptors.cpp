// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/descriptors.h"

#include "redset/open_file.h"
#include "redset/real_paths.h"

#include <algorithm>
#include <set>

namespace cd::redset {
namespace {

// Calls use(path, rank) for the descriptors of all members whose ranks are known, of all copies.
template <typename Use> void each_descriptor(const FoundSet &found, const Use &use) {
    for (size_t member = 0; member < found.copies.size(); ++member) {
        for (const Place &place : found.copies[member]) {
            if (const int rank = found.set.ranks[member]; rank >= 0) {
                use(place.descriptor(found.set, static_cast<int>(member)), rank);
            }
        }
    }
}

std::optional<Descriptor> descriptor_of(int rank, const std::string &path) {
    const MessageKeeper keeper;
    KvTree tree;
    uint64_t size = 0;
    if (!read_own_image(path, tree, size)) {
        return std::nullopt;
    }
    const KvTree *of_rank = tree.find(std::to_string(rank));
    const KvTree *own = of_rank == nullptr ? nullptr : of_rank->find("DESC");
    Descriptor descriptor;
    return own != nullptr && read_descriptor(*own, path.c_str(), descriptor) &&
                   descriptor.rank == rank
               ? std::optional(descriptor)
               : std::nullopt;
}

} // namespace

Descriptors::Descriptors(const std::vector<const FoundSet *> &sets) {
    RealPaths paths;
    for (const FoundSet *found : sets) {
        std::vector<Own> &own = descriptors_[found];
        each_descriptor(*found, [&](const std::string &path, int rank) {
            own.push_back({path, paths.of(path), rank});
            std::vector<const FoundSet *> &known = whose_[own.back().real];
            if (known.empty() || known.back() != found) {
                known.push_back(found);
            }
        });
    }
}

std::vector<const FoundSet *> Descriptors::beside(const FoundSet &found) const {
    std::set<const FoundSet *> others;
    for (const Own &own : descriptors_.at(&found)) {
        const std::vector<const FoundSet *> &known = whose_.at(own.real);
        others.insert(known.begin(), known.end());
    }
    others.erase(&found);
    return {others.begin(), others.end()};
}

std::optional<Descriptors::OfAnother> Descriptors::of_another(const FoundSet &found) const {
    std::vector<const FoundSet *> sets = beside(found);
    sets.push_back(&found);
    for (const Own &own : descriptors_.at(&found)) {
        const auto descriptor = descriptor_of(own.rank, own.path);
        if (descriptor && !is_of_any(*descriptor, sets)) {
            return OfAnother{own.path, *descriptor};
        }
    }
    return std::nullopt;
}

// Which rank a member is need not be known.
bool Descriptors::is_of_any(const Descriptor &descriptor,
                            const std::vector<const FoundSet *> &sets) {
    return std::ranges::any_of(sets, [&](const FoundSet *found) {
        const auto &[shape, group, groups, job_ranks, ranks] = found->set;
        if (descriptor.shape != shape || descriptor.group != group || descriptor.groups != groups ||
            descriptor.job_ranks != job_ranks) {
            return false;
        }
        const int rank = ranks[static_cast<size_t>(descriptor.member)];
        return rank < 0 || rank == descriptor.rank;
    });
}

} // namespace cd::redset
