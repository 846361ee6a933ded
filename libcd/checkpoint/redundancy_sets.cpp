// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/redundancy_sets.h"

#include "base/text.h"

#include <algorithm>
#include <functional>
#include <map>

namespace cd::checkpoint {
namespace {

using redset::Coding;
using redset::Set;

using Members = std::vector<int>; // ranks, ascending

// Groups ranks by their place in their failure groups.
std::vector<Members> across_groups(std::span<const int> ranks,
                                   std::span<const std::string> groups) {
    std::map<std::string, size_t> members;
    std::vector<Members> across;
    for (size_t i = 0; i < ranks.size(); ++i) {
        const size_t place = members[groups[i]]++;
        if (place == across.size()) {
            across.emplace_back();
        }
        across[place].push_back(ranks[i]);
    }
    return across;
}

// Cuts members into pieces of at least that size. The first ones may be one longer.
void cut(const Members &members, size_t least, std::vector<Members> &sets) {
    const size_t count = members.size();
    const size_t pieces = std::max<size_t>(count / least, 1);
    const size_t whole =
        count < least ? count : least + (count - pieces * least) / pieces; // of most of them
    size_t longer = count % whole;
    for (auto at = members.begin(); at != members.end();) {
        const auto length = static_cast<std::ptrdiff_t>(whole + (longer > 0 ? 1 : 0));
        longer -= longer > 0 ? 1 : 0;
        sets.emplace_back(at, at + length);
        at += length;
    }
}

Coding coding_of(const Redundancy &redundancy, size_t members) {
    const int checks = redundancy.scheme == Scheme::xor_set ? 1 : redundancy.parameter;
    return {redundancy.scheme, static_cast<int>(members), checks};
}

// Fails with the ranks of all sets that are too small.
Status check_sizes(const Redundancy &redundancy, const std::vector<Members> &sets, size_t ranks) {
    std::vector<int> small;
    std::string why;
    size_t count = 0;
    for (const Members &each : sets) {
        if (!redset::check_coding(coding_of(redundancy, each.size()))) {
            small.insert(small.end(), each.begin(), each.end());
            why = why.empty() ? message() : why;
            ++count;
        }
    }
    return count == 0
               ? Status::ok()
               : fail(CD_ERROR_STORAGE_VALUE,
                      "the failure groups of %s leave %s for %s: %s; start them on "
                      "more nodes, equally many on each, or ask for less redundancy or another "
                      "set_size=",
                      counted(ranks, "rank").c_str(), name_ranks(small).c_str(),
                      count == 1 ? "a set" : counted(count, "set").c_str(), why.c_str());
}

} // namespace

const Set &Division::set_of(int rank) const {
    return *std::ranges::find_if(sets, [rank](const Set &set) {
        return std::ranges::find(set.ranks, rank) != set.ranks.end();
    });
}

int member_of(const Set &set, int rank) {
    return static_cast<int>(std::ranges::find(set.ranks, rank) - set.ranks.begin());
}

Status divide(std::span<const int> ranks, std::span<const std::string> groups, int job_ranks,
              const SetOptions &options, Division &division) {
    Redundancy redundancy = options.redundancy;
    Division result;
    const bool one_group = std::ranges::adjacent_find(groups, std::not_equal_to()) == groups.end();
    if (one_group && redundancy.scheme != Scheme::single) {
        redundancy = {Scheme::single, 0};
        const bool is_alone = ranks.size() == 1 && job_ranks > 1;
        result.fallback =
            (is_alone ? "only rank " + std::to_string(ranks.front()) + " of " +
                            std::to_string(job_ranks) + " has this root"
                      : "all ranks are in the failure group \"" + groups.front() + "\"") +
            ", so redundancy=" + redset::scheme_name(options.redundancy.scheme) +
            " becomes redundancy=single; " +
            (is_alone ? "give it one name in all ranks, and create several roots in one order"
                      : "spread the ranks over nodes, or name failure groups by group=");
    }
    std::vector<Members> members;
    if (redundancy.scheme == Scheme::single) {
        for (const int rank : ranks) {
            members.push_back({rank});
        }
    } else {
        for (const Members &across : across_groups(ranks, groups)) {
            cut(across, static_cast<size_t>(options.set_size), members);
        }
    }
    std::ranges::sort(members); // by first members, which numbers the sets
    if (Status status = check_sizes(redundancy, members, ranks.size()); !status) {
        return status;
    }
    for (Members &each : members) {
        const Coding coding = coding_of(redundancy, each.size());
        result.sets.push_back({coding, static_cast<int>(result.sets.size()),
                               static_cast<int>(members.size()), job_ranks, std::move(each)});
    }
    division = std::move(result);
    return Status::ok();
}

} // namespace cd::checkpoint
