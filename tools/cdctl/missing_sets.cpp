// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "missing_sets.h"

#include "attempts.h"
#include "redset/one_time.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

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

std::vector<std::string> missing_sets(const std::vector<FoundSet> &found,
                                      const LeftAlone &left_alone) {
    OneTime upstreams;
    for (const FoundSet &each : found) {
        if (!attempt_of(each)) {
            upstreams.push_back(&each);
        }
    }
    const auto is_superseded = [&](const FoundSet *each) {
        const Result *result = left_alone.result_of(*each);
        return result != nullptr && result->verdict == Verdict::superseded;
    };
    std::vector<std::string> sentences;
    for (const auto &other : left_alone.descriptors_alone()) {
        sentences.push_back(other.tells() +
                            ", and what its ranks had is lost, unless it is in a directory that "
                            "was not given. If that set does not count, move descriptors such as "
                            "that one away");
    }
    for (const OneTime &time : divide_by_time(upstreams)) {
        const std::string sentence = missing_of(time);
        if (!sentence.empty() && std::ranges::none_of(time, is_superseded)) {
            sentences.push_back(sentence);
        }
    }
    return sentences;
}

} // namespace cdctl
