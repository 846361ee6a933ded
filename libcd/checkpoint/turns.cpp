// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/turns.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cd::checkpoint {
namespace {

std::vector<int> ranks_concerned(const RootApart &root) {
    std::set<int> ranks = root.ranks;
    for (const Holding &each : root.holdings) {
        ranks.insert(each.rank);
    }
    return {ranks.begin(), ranks.end()};
}

} // namespace

std::vector<Turn> take_turns(std::vector<RootApart> apart) {
    std::vector<Turn> turns;
    std::vector<std::set<int>> busy; // by turn
    for (RootApart &root : apart) {
        std::vector<int> ranks = ranks_concerned(root);
        const auto fits = [&](const std::set<int> &others) {
            return std::ranges::none_of(ranks, [&](int rank) { return others.contains(rank); });
        };
        const auto turn = static_cast<size_t>(std::ranges::find_if(busy, fits) - busy.begin());
        if (turn == turns.size()) {
            turns.emplace_back();
            busy.emplace_back();
        }
        busy[turn].insert(ranks.begin(), ranks.end());
        turns[turn].push_back({std::move(root), std::move(ranks)});
    }
    return turns;
}

} // namespace cd::checkpoint
