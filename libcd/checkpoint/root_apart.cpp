// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/root_apart.h"

#include <algorithm>
#include <optional>

namespace cd::checkpoint {
namespace {

// Where a root's ranks will not open it, or not alike, nothing moves.
bool open_alike(const std::set<int> &ranks, const std::vector<Asked> &asked) {
    const Asked &first = asked[static_cast<size_t>(*ranks.begin())];
    return !first.directories.empty() && std::ranges::all_of(ranks, [&](int rank) {
        const Asked &theirs = asked[static_cast<size_t>(rank)];
        return theirs.directories.size() == first.directories.size() &&
               theirs.flush_store == first.flush_store && theirs.stores == first.stores;
    });
}

// Which of what a root's ranks ask for a directory is, by its name.
std::optional<size_t> store_of_name(const std::string &directory, const std::set<int> &ranks,
                                    const std::vector<Asked> &asked) {
    for (const int rank : ranks) {
        const auto &theirs = asked[static_cast<size_t>(rank)].directories;
        const auto at = std::ranges::find(theirs, directory);
        if (at != theirs.end()) {
            return static_cast<size_t>(at - theirs.begin());
        }
    }
    return std::nullopt;
}

bool is_listed(const std::string &directory, const std::set<int> &ranks,
               const std::vector<Asked> &asked) {
    return std::ranges::any_of(ranks, [&](int rank) {
        return asked[static_cast<size_t>(rank)].listed.contains(directory);
    });
}

bool is_first_of_any(const std::string &directory, const std::vector<Asked> &asked) {
    return std::ranges::any_of(asked, [&](const Asked &theirs) {
        return !theirs.directories.empty() && theirs.directories.front() == directory;
    });
}

// The number of the store that it is then.
size_t add_earlier(const std::string &directory, RootApart &apart) {
    const auto known = std::ranges::find(apart.earlier, directory);
    const auto number = static_cast<size_t>(known - apart.earlier.begin());
    if (known == apart.earlier.end()) {
        apart.earlier.push_back(directory);
    }
    return apart.asked.directories.size() + number;
}

} // namespace

RootApart root_apart(const std::string &root, const std::set<int> &ranks, int self,
                     const std::vector<Asked> &asked, const std::vector<Elsewhere> &elsewhere) {
    const Asked &first = asked[static_cast<size_t>(*ranks.begin())];
    RootApart apart{
        root, ranks, ranks.contains(self) ? asked[static_cast<size_t>(self)] : first, {}};
    apart.asked.afresh = first.afresh;
    if (!open_alike(ranks, asked)) {
        return apart;
    }
    for (const Elsewhere &each : elsewhere) {
        if (each.root != root || !each.problem.empty()) {
            continue;
        }
        const auto named = store_of_name(each.directory, ranks, asked);
        const bool is_first =
            is_first_of_any(each.directory, asked) && !is_listed(each.directory, ranks, asked);
        if (named || is_first) {
            if (!named || named != first.flush_store) {
                apart.holdings.push_back(
                    {each.rank, each.directory, named.value_or(0), named.has_value()});
            }
        } else if (each.latest.level != flush_level) {
            apart.holdings.push_back(
                {each.rank, each.directory, add_earlier(each.directory, apart), true});
        }
    }
    return apart;
}

} // namespace cd::checkpoint
