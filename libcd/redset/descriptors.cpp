// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/descriptors.h"

#include "redset/open_file.h"
#include "redset/real_paths.h"
#include "redset/scheme_name.h"

#include <algorithm>
#include <filesystem>
#include <functional>

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

// That of a member whose rank belongs to the file; of ranks that end alike, as 0 and 10 in the name
// of the latter's, the longest.
std::optional<Descriptor> descriptor_in(const std::string &path,
                                        const std::function<bool(int rank)> &belongs) {
    const SavedMessage keeper;
    KvTree tree;
    uint64_t size = 0;
    if (!read_own_image(path, tree, size)) {
        return std::nullopt;
    }
    std::optional<Descriptor> found;
    for (const auto &element : tree.elements()) {
        const KvTree *own = element.below.find("DESC");
        Descriptor descriptor;
        if (own != nullptr && read_descriptor(*own, path.c_str(), descriptor) &&
            std::to_string(descriptor.rank) == element.key && belongs(descriptor.rank) &&
            (!found || found->rank < descriptor.rank)) {
            found = descriptor;
        }
    }
    return found;
}

std::string end_of_name(int rank) { return std::to_string(rank) + ".redset"; }

// Which rank a member is need not be known.
bool tells_of(const Descriptor &descriptor, const FoundSet &found) {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    if (descriptor.shape != shape || descriptor.group != group || descriptor.groups != groups ||
        descriptor.job_ranks != job_ranks) {
        return false;
    }
    const int rank = ranks[static_cast<size_t>(descriptor.member)];
    return rank < 0 || rank == descriptor.rank;
}

bool tells_of_any(const Descriptor &descriptor, const std::vector<const FoundSet *> &sets) {
    return std::ranges::any_of(sets,
                               [&](const FoundSet *found) { return tells_of(descriptor, *found); });
}

// Whether a path is where the set's prefix has a rank's, from some directory on.
bool is_path_of(const FoundSet &found, int rank, const std::string &real) {
    return std::ranges::any_of(found.places, [&](const Place &place) {
        return real.ends_with("/" + place.prefix + end_of_name(rank));
    });
}

bool has_name_of(const FoundSet &found, int rank, const std::string &real) {
    const std::string &prefix = found.places.front().prefix;
    return real.ends_with("/" + prefix.substr(prefix.rfind('/') + 1) + end_of_name(rank));
}

bool has_scheme_file_of(const FoundSet &found, int member) {
    return std::ranges::any_of(found.found, [&](const std::string &path) {
        const std::string name = std::filesystem::path(path).filename();
        const auto scheme = scheme_name_of(name);
        return scheme && scheme->member == member;
    });
}

// One set after the other, each once.
void add(const FoundSet &found, std::vector<const FoundSet *> &sets) {
    if (sets.empty() || sets.back() != &found) {
        sets.push_back(&found);
    }
}

std::string parent_of(const std::string &path) {
    return std::filesystem::path(path).parent_path().string();
}

} // namespace

Descriptors::Descriptors(const std::vector<const FoundSet *> &sets,
                         const std::vector<std::string> &paths)
    : all_(sets) {
    RealPaths real;
    for (const FoundSet *found : sets) {
        std::vector<Own> &own = descriptors_[found];
        each_descriptor(*found, [&](const std::string &path, int rank) {
            own.push_back({path, real.of(path), rank});
            add(*found, whose_[own.back().real]);
        });
        for (const std::string &path : found->found) {
            const std::string directory = parent_of(real.of(path));
            directories_[found].insert(directory);
            add(*found, in_directory_[directory]);
        }
        for (const Copies &copies : found->copies) {
            for (const Place &place : copies) {
                bases_[found].insert(parent_of(real.of(place.path("."))));
            }
        }
    }
    for (const std::string &path : paths) {
        add_unless_known(path, real.of(path));
    }
}

void Descriptors::add_unless_known(const std::string &path, const std::string &real) {
    const auto descriptor =
        descriptor_in(path, [&](int rank) { return path.ends_with(end_of_name(rank)); });
    const auto owners = whose_.find(real);
    const bool is_owned = owners != whose_.end();
    if (!descriptor || (is_owned && tells_of_any(*descriptor, owners->second))) {
        return;
    }
    const std::string directory = parent_of(real);
    const auto found = in_directory_.find(directory);
    const bool is_beside = found != in_directory_.end();
    const Sets &sets = is_beside ? found->second : all_;
    const auto is_its = [&](const FoundSet *each) { return is_of(*descriptor, real, *each); };
    if (std::ranges::none_of(sets, is_its)) {
        const bool is_foreign = is_beside && !is_owned && !tells_of_any(*descriptor, sets);
        of_none_.try_emplace(real, OfAnother{path, *descriptor, directory, is_foreign});
    }
}

// Where ranks have theirs in directories of their own, a lost one's may be in any.
bool Descriptors::is_of(const Descriptor &told, const std::string &real,
                        const FoundSet &found) const {
    return tells_of(told, found) && (is_path_of(found, told.rank, real) ||
                                     (is_spread(found) && !has_scheme_file_of(found, told.member) &&
                                      has_name_of(found, told.rank, real)));
}

// Of which nothing else is left.
bool Descriptors::may_be_of_its_time(const Descriptor &told, const std::string &real,
                                     const FoundSet &found) const {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    return told.shape.scheme == shape.scheme && told.shape.checks == shape.checks &&
           told.groups == groups && told.job_ranks == job_ranks && told.group != group &&
           std::ranges::find(ranks, told.rank) == ranks.end() &&
           (is_path_of(found, told.rank, real) ||
            (is_spread(found) && has_name_of(found, told.rank, real)));
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
    Sets sets = beside(found);
    sets.push_back(&found);
    for (const Own &own : descriptors_.at(&found)) {
        const auto descriptor = descriptor_in(own.path, [&](int rank) { return rank == own.rank; });
        if (descriptor && !tells_of_any(*descriptor, sets)) {
            return OfAnother{own.path, *descriptor, parent_of(own.real), false};
        }
    }
    const std::vector<const OfAnother *> near = alone_near(found);
    const auto other = std::ranges::find_if(near, [&](const OfAnother *each) {
        return each->is_foreign && directories_.at(&found).contains(each->directory);
    });
    return other == near.end() ? std::nullopt : std::optional(**other);
}

std::vector<const Descriptors::OfAnother *> Descriptors::alone_near(const FoundSet &found) const {
    std::vector<const OfAnother *> near;
    for (const std::string &base : bases_.at(&found)) {
        const std::string first = base == "/" ? base : base + "/";
        for (auto at = of_none_.lower_bound(first);
             at != of_none_.end() && at->first.starts_with(first); ++at) {
            const auto &[real, other] = *at;
            if (!may_be_of_its_time(other.descriptor, real, found)) {
                near.push_back(&other);
            }
        }
    }
    return near;
}

} // namespace cd::redset
