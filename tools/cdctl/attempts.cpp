// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "attempts.h"

#include "alone.h"
#include "protection/folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::protection::Point;
using cd::redset::FoundSet;

struct Attempt {
    std::string directory; // of the root's points in time
    std::string root;
    Point point;
};

std::optional<Attempt> attempt_with(const fs::path &file) {
    const fs::path directory = fs::weakly_canonical(file).parent_path();
    const auto point = cd::protection::point_of(directory.filename().string());
    return point ? std::optional(Attempt{directory.parent_path().parent_path().string(),
                                         directory.parent_path().stem().string(), *point})
                 : std::nullopt;
}

cd::Status write_records(const FoundSet &found, int participants) {
    for (size_t member = 0; member < found.places.size(); ++member) {
        const std::string scheme_file =
            found.places[member].scheme_file(found.set, static_cast<int>(member));
        const auto attempt = attempt_with(scheme_file);
        if (!attempt) {
            return cd::fail(CD_ERROR_ARGUMENT, "%s is in no directory of an attempt",
                            scheme_file.c_str());
        }
        cd::protection::Folder folder;
        bool there = false;
        if (cd::Status status = cd::protection::Folder::find(attempt->directory, attempt->root,
                                                             true, folder, there);
            !status) {
            return status;
        }
        if (cd::Status status = folder.write_record(
                {attempt->point, found.set.ranks[member], participants, found.set}, true);
            !status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace

// What cannot be listed has been complained about.
Attempts::Attempts(const std::vector<std::string> &directories) {
    for (const std::string &directory : directories) {
        std::error_code error;
        fs::recursive_directory_iterator entry(directory, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            const auto rank = cd::protection::rank_of(name);
            if (!rank || name != cd::protection::agreed_name(*rank)) {
                continue;
            }
            if (const auto attempt = attempt_with(entry->path())) {
                counted_[attempt->root].insert(attempt->point);
            }
        }
    }
}

Attempts::Standing Attempts::of(const FoundSet &found) const {
    Standing standing = Standing::unfinished;
    for (const std::string &path : found.found) {
        const auto attempt = attempt_with(path);
        const auto others = attempt ? counted_.find(attempt->root) : counted_.end();
        if (!attempt || (others != counted_.end() && others->second.contains(attempt->point))) {
            return Standing::counts;
        }
        const bool level_counts = others != counted_.end() &&
                                  std::ranges::any_of(others->second, [&](const Point &other) {
                                      return other.level == attempt->point.level;
                                  });
        standing = level_counts ? standing : Standing::unrecorded;
    }
    return standing;
}

bool Attempts::root_counts(const FoundSet &found) const {
    const auto attempt = attempt_with(found.found.front());
    return attempt && counted_.contains(attempt->root);
}

std::string attempt_of(const FoundSet &found) {
    const auto attempt = attempt_with(found.found.front());
    return attempt ? attempt->root + "/" + cd::protection::directory_name(attempt->point) : "";
}

cd::Status agree_on(const std::vector<const FoundSet *> &sets) {
    int participants = 0;
    std::set<int> groups;
    for (const FoundSet *found : sets) {
        participants += found->set.shape.members;
        groups.insert(found->set.group);
    }
    const int wanted = sets.front()->set.groups;
    if (!std::cmp_equal(groups.size(), wanted) || !std::cmp_equal(sets.size(), wanted)) {
        return cd::fail(CD_ERROR_ARGUMENT,
                        "%s: %zu of %d sets can be had whole; programs start from all of them",
                        attempt_of(*sets.front()).c_str(), groups.size(), wanted);
    }
    for (const FoundSet *found : sets) {
        Alone alone;
        cd::Status status = alone.with(*found, false);
        status = status ? write_records(*found, participants) : status;
        if (!status) {
            return status;
        }
    }
    return cd::Status::ok();
}

} // namespace cdctl
