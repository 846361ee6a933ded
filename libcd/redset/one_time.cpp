// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/one_time.h"

#include "redset/open_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// Sets that are of one time, and what others are compared with.
struct Together {
    OneTime sets;
    std::array<int, 4> division{}; // how many sets and ranks, and by which scheme
    std::set<int> groups;
    std::set<int> ranks;
    std::set<std::string> prefixes;          // of names of scheme files
    std::set<std::string> paths;             // to scheme files, where sets tell
    std::array<std::set<std::string>, 2> in; // names of directories that have them, and whole paths
};

// Otherwise nothing tells where its files are from its scheme files.
bool has_files_there(const FoundSet &found) {
    const SavedMessage keeper;
    for (size_t member = 0; member < found.places.size(); ++member) {
        for (const StoredFile &stored : found.told[member].value_or(StoredFiles())) {
            File file;
            os::FileAttributes attributes;
            if (open_stored(found.places[member], stored.name, file, attributes)) {
                return true;
            }
        }
    }
    return false;
}

Together alone(const FoundSet &found) {
    Together one;
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    one.sets = {&found};
    one.division = {groups, job_ranks, static_cast<int>(shape.scheme), shape.checks};
    one.groups = {group};
    std::ranges::copy_if(ranks, std::inserter(one.ranks, one.ranks.end()),
                         [](int rank) { return rank >= 0; });
    const std::string &first = found.places.front().prefix;
    one.prefixes = {first.substr(first.rfind('/') + 1)};
    const auto is_first = [&](const Place &place) { return place.prefix == first; };
    if (found.found.size() > 1 && std::ranges::all_of(found.places, is_first) &&
        has_files_there(found)) {
        one.paths = {first};
    }
    for (const std::string &path : found.found) {
        const fs::path folder = fs::path(path).parent_path();
        one.in[0].insert(folder.filename().string());
        one.in[1].insert(folder.string());
    }
    return one;
}

template <typename Value>
bool have_any_in_common(const std::set<Value> &a, const std::set<Value> &b) {
    return std::ranges::any_of(a, [&](const Value &value) { return b.contains(value); });
}

// Files that were brought back may be nearer to a directory that was given than others.
bool is_end_of(const std::string &path, const std::string &other) {
    return ("/" + other).ends_with("/" + path);
}

bool contradict_in_paths(const Together &a, const Together &b) {
    return std::ranges::any_of(a.paths, [&](const std::string &one) {
        return std::ranges::any_of(b.paths, [&](const std::string &other) {
            return !is_end_of(one, other) && !is_end_of(other, one);
        });
    });
}

bool contradict_in_time(const Together &a, const Together &b) {
    return a.division != b.division || have_any_in_common(a.groups, b.groups) ||
           have_any_in_common(a.ranks, b.ranks) || a.prefixes != b.prefixes ||
           contradict_in_paths(a, b);
}

bool is_complete(const Together &time) {
    return std::cmp_equal(time.groups.size(), time.division[0]);
}

void add(Together &part, Together &to) {
    to.sets.insert(to.sets.end(), part.sets.begin(), part.sets.end());
    to.groups.merge(part.groups);
    to.ranks.merge(part.ranks);
    to.prefixes.merge(part.prefixes);
    to.paths.merge(part.paths);
    for (size_t i = 0; i < to.in.size(); ++i) {
        to.in[i].merge(part.in[i]);
    }
}

// near: what of their directories is the same, all of their paths (1), their names (0) or nothing.
bool is_near(const Together &a, const Together &b, int near) {
    return near < 0 ||
           have_any_in_common(a.in[static_cast<size_t>(near)], b.in[static_cast<size_t>(near)]);
}

std::vector<Together> join_times(std::vector<Together> parts, int near) {
    std::vector<Together> times;
    std::vector<Together> complete; // which none can be added to
    for (Together &part : parts) {
        auto fitting = is_complete(part) ? times.end()
                                         : std::ranges::find_if(times, [&](const Together &time) {
                                               return is_near(time, part, near) &&
                                                      !contradict_in_time(time, part);
                                           });
        if (fitting == times.end()) {
            fitting = times.insert(times.end(), Together{{}, part.division, {}, {}, {}, {}, {}});
        }
        add(part, *fitting);
        if (is_complete(*fitting)) {
            complete.push_back(std::move(*fitting));
            times.erase(fitting);
        }
    }
    std::ranges::move(times, std::back_inserter(complete));
    return complete;
}

} // namespace

std::vector<OneTime> divide_by_time(const std::vector<const FoundSet *> &sets) {
    std::vector<Together> parts;
    parts.reserve(sets.size());
    for (const FoundSet *each : sets) {
        parts.push_back(alone(*each));
    }
    for (const int near : {1, 0, -1}) {
        parts = join_times(std::move(parts), near);
    }
    std::vector<OneTime> times;
    times.reserve(parts.size());
    for (Together &part : parts) {
        times.push_back(std::move(part.sets));
    }
    return times;
}

} // namespace cd::redset
