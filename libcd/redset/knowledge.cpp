// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/knowledge.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace cd::redset {

namespace fs = std::filesystem;

namespace {

bool is_below(const fs::path &path, const fs::path &directory) {
    return std::ranges::mismatch(directory, path).in1 == directory.end();
}

// Which the names of all files of a set begin with that are known, "" for none.
fs::path directory_in_names(std::span<const ToldFile> files) {
    fs::path common = files.empty() ? fs::path() : fs::path(files.front().name).parent_path();
    while (!std::ranges::all_of(
        files, [&](const ToldFile &file) { return is_below(file.name, common); })) {
        if (!common.has_relative_path()) {
            return {}; // some names begin with a slash, and others do not
        }
        common = common.parent_path();
    }
    return common;
}

} // namespace

Knowledge::Knowledge(const OneTime &sets, RealPaths &paths, Outlook &outlook) : sets_(sets) {
    for (const FoundSet *each : sets_) {
        add(*each, paths, outlook);
    }
    add_missing_sets();
    for (size_t i = 0; i < files_.size(); ++i) {
        by_path_[files_[i].path].push_back(i);
        by_name_.try_emplace({files_[i].rank, files_[i].name}, i);
    }
}

void Knowledge::add(const FoundSet &found, RealPaths &paths, Outlook &outlook) {
    const size_t first = files_.size();
    for (size_t member = 0; member < found.copies.size(); ++member) {
        const int rank = found.set.ranks[member];
        if (!found.told[member]) {
            const bool is_named = rank >= 0;
            unknown_.push_back({is_named ? std::optional(rank) : std::nullopt,
                                "what " +
                                    (is_named ? "rank " + std::to_string(rank)
                                              : "member " + std::to_string(member)) +
                                    " had in " + describe_set(found)});
            continue;
        }
        known_.insert(rank);
        for (const Place &place : found.copies[member]) {
            for (const StoredFile &stored : *found.told[member]) {
                files_.push_back({&found, rank, fs::path(stored.name).lexically_normal().string(),
                                  paths.of(place.path(stored.name)), stored.attributes});
            }
        }
    }
    whose_[&found] = {first, files_.size() - first};
    const bool any_there = std::ranges::any_of(
        files_of(found), [&](const ToldFile &file) { return outlook.at(file.path).has_value(); });
    add_directories(found, any_there, paths);
}

void Knowledge::add_directories(const FoundSet &found, bool any_there, RealPaths &paths) {
    const fs::path in_names = directory_in_names(files_of(found));
    for (size_t member = 0; member < found.copies.size(); ++member) {
        for (const Place &place : found.copies[member]) {
            const fs::path folder = fs::path(paths.of(place.path("."))).parent_path();
            const std::string path = place.scheme_file(found.set, static_cast<int>(member));
            fs::path directory = fs::path(paths.of(path)).parent_path();
            directories_.insert(directory);
            const fs::path own = in_names.empty() ? folder : folder / in_names;
            while (is_below(directory, folder) && directory != folder &&
                   !is_below(own, directory)) {
                directory = directory.parent_path();
                (any_there ? directories_ : likely_directories_).insert(directory);
            }
        }
    }
}

std::set<std::string> Knowledge::paths() const {
    std::set<std::string> paths;
    std::ranges::transform(by_path_, std::inserter(paths, paths.end()),
                           [](const auto &files) { return files.first; });
    return paths;
}

std::span<const ToldFile> Knowledge::files_of(const FoundSet &found) const {
    const auto &[first, count] = whose_.at(&found);
    return std::span(files_).subspan(first, count);
}

void Knowledge::add_missing_sets() {
    const FoundSet &first = *sets_.front();
    std::set<int> groups;
    for (const FoundSet *each : sets_) {
        groups.insert(each->set.group);
    }
    for (int group = 0; group < first.set.groups; ++group) {
        if (!groups.contains(group)) {
            unknown_.push_back({std::nullopt, "what there was in set " + std::to_string(group + 1) +
                                                  " of " + std::to_string(first.set.groups) +
                                                  " of the time of " + first.found.front()});
            return; // what one had may be any rank's
        }
    }
}

std::vector<const ToldFile *> Knowledge::at(const std::string &path) const {
    std::vector<const ToldFile *> files;
    if (const auto found = by_path_.find(path); found != by_path_.end()) {
        std::ranges::transform(found->second, std::back_inserter(files),
                               [this](size_t file) { return &files_[file]; });
    }
    return files;
}

const ToldFile *Knowledge::named(int rank, const std::string &name) const {
    const auto found = by_name_.find({rank, name});
    return found == by_name_.end() ? nullptr : &files_[found->second];
}

// Another number of ranks is another job, whose ranks may have had anything.
std::string Knowledge::what_is_unknown(int rank, int job_ranks) const {
    const bool is_other_job = sets_.front()->set.job_ranks != job_ranks;
    const auto found = std::ranges::find_if(unknown_, [&](const Unknown &each) {
        return is_other_job || each.rank.value_or(rank) == rank;
    });
    return found == unknown_.end() || (!is_other_job && known_.contains(rank)) ? "" : found->what;
}

std::string describe_set(const FoundSet &found) {
    return "set " + std::to_string(found.set.group + 1) + " of " +
           std::to_string(found.set.groups) + " (" + describe_shape(found.set.shape) + ") of " +
           found.found.front();
}

} // namespace cd::redset
