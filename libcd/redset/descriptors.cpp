// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/descriptors.h"

#include "base/path.h"
#include "redset/open_file.h"
#include "redset/real_paths.h"
#include "redset/scheme_name.h"

#include <fcntl.h>

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

std::string directory_of(const std::string &path, RealPaths &paths) {
    return std::filesystem::path(paths.of(path)).parent_path().string();
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
        for (const std::string &path : found->found) {
            const std::string directory = directory_of(path, paths);
            directories_[found].insert(directory);
            in_directory_[directory].insert(found);
        }
    }
    for (const auto &[directory, found] : in_directory_) {
        find_those_of_none(directory, {found.begin(), found.end()});
    }
}

// What cannot be listed has been complained about.
void Descriptors::find_those_of_none(const std::string &directory,
                                     const std::vector<const FoundSet *> &sets) {
    std::vector<OfAnother> &others = of_none_[directory];
    constexpr int flags = O_RDONLY | O_DIRECTORY;
    const File folder(os::system().open_at(AT_FDCWD, directory.c_str(), flags, 0), directory);
    std::vector<std::string> names;
    if (!folder.is_open() || os::system().list(folder.descriptor(), names) != 0) {
        return;
    }
    std::ranges::sort(names);
    for (const std::string &name : names) {
        const std::string path = path_in(directory, name);
        if (!name.ends_with(".redset") || scheme_name_of(name) || whose_.contains(path)) {
            continue;
        }
        const auto descriptor =
            descriptor_in(path, [&](int rank) { return name.ends_with(end_of_name(rank)); });
        if (descriptor && !is_of_any(*descriptor, sets)) {
            others.push_back({path, *descriptor});
        }
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
        if (descriptor && !is_of_any(*descriptor, sets)) {
            return OfAnother{own.path, *descriptor};
        }
    }
    for (const std::string &directory : directories_.at(&found)) {
        const auto &others = of_none_.at(directory);
        const auto other = std::ranges::find_if(
            others, [&](const OfAnother &each) { return !is_of_its_division(each, found); });
        if (other != others.end()) {
            return *other;
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
