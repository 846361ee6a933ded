// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/descriptors.h"

#include "redset/open_file.h"
#include "redset/real_paths.h"
#include "redset/scheme_file.h"

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

// That of a member whose rank belongs to the file.
std::optional<Descriptor> descriptor_in(const std::string &path,
                                        const std::function<bool(int rank)> &belongs) {
    const MessageKeeper keeper;
    KvTree tree;
    uint64_t size = 0;
    if (!read_own_image(path, tree, size)) {
        return std::nullopt;
    }
    for (const auto &element : tree.elements()) {
        const KvTree *own = element.below.find("DESC");
        Descriptor descriptor;
        if (own != nullptr && read_descriptor(*own, path.c_str(), descriptor) &&
            std::to_string(descriptor.rank) == element.key && belongs(descriptor.rank)) {
            return descriptor;
        }
    }
    return std::nullopt;
}

std::string end_of_name(int rank) { return std::to_string(rank) + ".redset"; }

// Whether it may be that of a set of the same time of which nothing is left.
bool is_of_its_division(const Descriptors::OfAnother &other, const FoundSet &found) {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    const Descriptor &told = other.descriptor;
    const std::string &path = found.places.front().prefix;
    const std::string name = path.substr(path.rfind('/') + 1) + end_of_name(told.rank);
    return told.shape.scheme == shape.scheme && told.shape.checks == shape.checks &&
           told.groups == groups && told.job_ranks == job_ranks && told.group != group &&
           std::filesystem::path(other.path).filename() == name &&
           std::ranges::find(ranks, told.rank) == ranks.end();
}

constexpr auto set_of_entry = [](const auto &pair) { return pair.first; };

std::string parent_of(const std::string &path) {
    return std::filesystem::path(path).parent_path().string();
}

std::string directory_of(const std::string &path, RealPaths &paths) {
    return parent_of(paths.of(path));
}

} // namespace

std::string Descriptors::OfAnother::tells() const {
    return path + " tells of set " + std::to_string(descriptor.group + 1) + " of " +
           std::to_string(descriptor.groups) + " (" + describe_shape(descriptor.shape) +
           "), of which no scheme file was found";
}

Descriptors::Descriptors(const std::vector<const FoundSet *> &sets,
                         const std::vector<std::string> &paths) {
    RealPaths real;
    for (const FoundSet *found : sets) {
        std::vector<Own> &own = descriptors_[found];
        each_descriptor(*found, [&](const std::string &path, int rank) {
            own.push_back({path, real.of(path), rank});
            std::vector<const FoundSet *> &known = whose_[own.back().real];
            if (known.empty() || known.back() != found) {
                known.push_back(found);
            }
        });
        for (const std::string &path : found->found) {
            const std::string directory = directory_of(path, real);
            directories_[found].insert(directory);
            in_directory_[directory].insert(found);
        }
        for (const Place &place : found->places) {
            bases_[found].insert(directory_of(place.path("."), real));
        }
    }
    for (const std::string &path : paths) {
        add_unless_known(path, real.of(path));
    }
}

// Where there are no scheme files, ranks may have moved since.
void Descriptors::add_unless_known(const std::string &path, const std::string &real) {
    if (whose_.contains(real)) {
        return;
    }
    const auto descriptor =
        descriptor_in(path, [&](int rank) { return path.ends_with(end_of_name(rank)); });
    const auto beside = in_directory_.find(parent_of(real));
    const auto is_its = [&](const FoundSet *found) {
        return descriptor && is_of(*descriptor, *found);
    };
    const bool is_known = beside == in_directory_.end()
                              ? std::ranges::any_of(directories_, is_its, set_of_entry)
                              : std::ranges::any_of(beside->second, is_its);
    if (descriptor && !is_known) {
        of_none_.try_emplace(real, OfAnother{path, *descriptor});
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
        const auto descriptor = descriptor_in(own.path, [&](int rank) { return rank == own.rank; });
        const auto is_its = [&](const FoundSet *each) { return is_of(*descriptor, *each); };
        if (descriptor && std::ranges::none_of(sets, is_its)) {
            return OfAnother{own.path, *descriptor};
        }
    }
    const auto other = std::ranges::find_if(of_none_, [&](const auto &each) {
        return is_near(each.first, found) && !is_of_its_division(each.second, found);
    });
    return other == of_none_.end() ? std::nullopt : std::optional(other->second);
}

bool Descriptors::is_near(const std::string &real, const FoundSet &found) const {
    const std::string directory = parent_of(real);
    return in_directory_.contains(directory)
               ? directories_.at(&found).contains(directory)
               : std::ranges::any_of(bases_.at(&found), [&](const std::string &base) {
                     return (directory + "/").starts_with(base == "/" ? base : base + "/");
                 });
}

std::vector<Descriptors::OfAnother> Descriptors::alone() const {
    std::vector<OfAnother> others;
    for (const auto &entry : of_none_) {
        const OfAnother &other = entry.second;
        const auto is_told = [&](const FoundSet *found) {
            return is_near(entry.first, *found) && is_of_its_division(other, *found);
        };
        const auto is_same = [&](const OfAnother &each) {
            return same_set(each.descriptor, other.descriptor);
        };
        if (std::ranges::none_of(directories_, is_told, set_of_entry) &&
            std::ranges::none_of(others, is_same)) {
            others.push_back(other);
        }
    }
    return others;
}

// Which rank a member is need not be known.
bool Descriptors::is_of(const Descriptor &descriptor, const FoundSet &found) {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    if (descriptor.shape != shape || descriptor.group != group || descriptor.groups != groups ||
        descriptor.job_ranks != job_ranks) {
        return false;
    }
    const int rank = ranks[static_cast<size_t>(descriptor.member)];
    return rank < 0 || rank == descriptor.rank;
}

} // namespace cd::redset
