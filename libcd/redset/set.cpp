// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/set.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace cd::redset {

Status check_set(const Set &set, int members) {
    if (Status status = check_coding(set.coding); !status) {
        return status;
    }
    if (set.coding.members != members || set.ranks.size() != static_cast<size_t>(members)) {
        return fail(CD_ERROR_ARGUMENT, "%s came together for a set of %d with %zu ranks",
                    counted(members, "member").c_str(), set.coding.members, set.ranks.size());
    }
    std::vector<int> sorted = set.ranks;
    std::sort(sorted.begin(), sorted.end());
    if (set.group < 0 || set.group >= set.groups || sorted.front() < 0 ||
        sorted.back() >= set.job_ranks) {
        return fail(CD_ERROR_ARGUMENT,
                    "set %d of %d with ranks from %d to %d cannot be in a job of %d", set.group,
                    set.groups, sorted.front(), sorted.back(), set.job_ranks);
    }
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        twice != sorted.end()) {
        return fail(CD_ERROR_ARGUMENT, "set %d names rank %d twice", set.group, *twice);
    }
    return Status::ok();
}

uint64_t logical_size(const StoredFiles &files) {
    return std::accumulate(
        files.begin(), files.end(), uint64_t{0},
        [](uint64_t sum, const StoredFile &file) { return sum + file.attributes.size; });
}

namespace {

std::string rank_of(const Set &set, int member) {
    return std::to_string(set.ranks[static_cast<size_t>(member)]);
}

std::string one_of(int number, int count) {
    return std::to_string(number + 1) + "_of_" + std::to_string(count);
}

} // namespace

std::string Place::path(const std::string &name) const {
    return folder.empty() || name.starts_with('/') ? name : folder + "/" + name;
}

std::string Place::descriptor(const Set &set, int member) const {
    return path(prefix + rank_of(set, member) + ".redset");
}

std::string Place::scheme_file(const Set &set, int member) const {
    std::string scheme = scheme_name(set.coding.scheme);
    std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return path(prefix + rank_of(set, member) + "." + scheme + ".grp_" +
                one_of(set.group, set.groups) + ".mem_" + one_of(member, set.coding.members) +
                ".redset");
}

std::string Place::checksums(const Set &set, int member) const {
    return path(prefix + rank_of(set, member) + ".cdsums");
}

std::string name_ranks(std::span<const int> ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + list_ranks(ranks);
}

std::string list_ranks(std::span<const int> ranks) {
    constexpr size_t most = 30;
    std::string text;
    for (size_t i = 0; i < ranks.size() && i < most; ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    }
    return ranks.size() > most ? text + " and " + std::to_string(ranks.size() - most) + " more"
                               : text;
}

} // namespace cd::redset
