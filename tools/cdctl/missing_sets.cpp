// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "missing_sets.h"

#include "attempts.h"

#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace cdctl {
namespace {

using cd::redset::FoundSet;

struct Job {
    int sets = 1;
    int ranks = 1;
    auto operator<=>(const Job &) const = default;
};

struct Known {
    std::set<int> sets;
    std::set<int> ranks;
    std::string example; // a scheme file
};

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

} // namespace

std::vector<std::string> missing_sets(const std::vector<FoundSet> &found) {
    std::map<Job, Known> jobs;
    for (const FoundSet &each : found) {
        if (attempt_of(each)) {
            continue;
        }
        Known &known = jobs[{each.set.groups, each.set.job_ranks}];
        known.sets.insert(each.set.group);
        known.ranks.insert(each.set.ranks.begin(), each.set.ranks.end());
        known.example = known.example.empty() ? each.found.front() : known.example;
    }
    std::vector<std::string> sentences;
    for (const auto &[job, known] : jobs) {
        if (std::cmp_less(known.sets.size(), job.sets)) {
            sentences.push_back(
                known.example + ": says that there are " + std::to_string(job.sets) +
                " sets of a job of " + std::to_string(job.ranks) + " ranks; nothing was found of " +
                (job.sets - static_cast<int>(known.sets.size()) == 1 ? "set " : "sets ") +
                list_others(1, job.sets, known.sets) +
                ", and what their ranks had is lost, unless it is in a directory that was not "
                "given (ranks in no set that was found: " +
                list_others(0, job.ranks, known.ranks) + ")");
        }
    }
    return sentences;
}

} // namespace cdctl
