// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "missing_sets.h"

#include "attempts.h"
#include "redset/one_time.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cdctl {
namespace {

using cd::redset::FoundSet;
using cd::redset::OneTime;

// Numbers below count that are not known, as people count from first on. What a damaged scheme file
// says may be a large number.
std::string list_others(int first, int count, const std::set<int> &known) {
    constexpr size_t most = 30;
    std::vector<int> listed;
    for (int number = 0; number < count && listed.size() < most; ++number) {
        if (!known.contains(number)) {
            listed.push_back(first + number);
        }
    }
    const auto last = listed.empty() ? known.end() : known.upper_bound(listed.back() - first);
    const auto beyond = std::distance(last, known.end());
    const int more =
        listed.empty() ? 0 : count - 1 - (listed.back() - first) - static_cast<int>(beyond);
    return cd::redset::list_ranks(listed) +
           (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

// "" where none is missing.
std::string missing_of(const OneTime &time) {
    const auto &[shape, group, groups, job_ranks, own_ranks] = time.front()->set;
    std::set<int> sets;
    std::set<int> ranks;
    for (const FoundSet *each : time) {
        sets.insert(each->set.group);
        ranks.insert(each->set.ranks.begin(), each->set.ranks.end());
    }
    const int missing = groups - static_cast<int>(sets.size());
    return missing == 0
               ? ""
               : time.front()->found.front() + ": says that there are " + std::to_string(groups) +
                     " sets of a job of " + std::to_string(job_ranks) +
                     " ranks; nothing was found of " + (missing == 1 ? "set " : "sets ") +
                     list_others(1, groups, sets) +
                     ", and what their ranks had is lost, unless it is in a directory that was "
                     "not given (ranks in no set that was found: " +
                     list_others(0, job_ranks, ranks) + ")";
}

} // namespace

std::vector<std::string> missing_sets(const std::vector<FoundSet> &found) {
    OneTime upstreams;
    for (const FoundSet &each : found) {
        if (!attempt_of(each)) {
            upstreams.push_back(&each);
        }
    }
    std::map<std::pair<int, int>, std::vector<std::string>> jobs; // by their sets and ranks
    std::set<std::pair<int, int>> complete;
    for (const OneTime &time : divide_by_time(upstreams)) {
        const std::pair job(time.front()->set.groups, time.front()->set.job_ranks);
        if (std::string sentence = missing_of(time); !sentence.empty()) {
            jobs[job].push_back(std::move(sentence));
        } else {
            complete.insert(job);
        }
    }
    std::vector<std::string> sentences;
    for (auto &[job, missing] : jobs) {
        if (!complete.contains(job)) {
            std::ranges::move(missing, std::back_inserter(sentences));
        }
    }
    return sentences;
}

} // namespace cdctl
