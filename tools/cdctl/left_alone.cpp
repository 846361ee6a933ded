// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "left_alone.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace cdctl {
namespace {

using cd::redset::Descriptors;
using cd::redset::FoundSet;
using cd::redset::MemberState;
using cd::redset::Rivals;

bool has_lost_files(const Result &result) {
    return result.verdict == Verdict::rebuildable &&
           std::ranges::any_of(result.survey.members,
                               [](const MemberState &member) { return !member.data_lost.empty(); });
}

void leave_descriptors_of(const std::vector<const FoundSet *> &others, FoundSet &found) {
    auto sets = std::make_shared<std::vector<cd::redset::Set>>();
    for (const FoundSet *other : others) {
        sets->push_back(other->set);
    }
    for (cd::redset::Copies &copies : found.copies) {
        for (cd::redset::Place &place : copies) {
            place.beside = sets;
        }
    }
}

} // namespace

LeftAlone::LeftAlone(std::vector<FoundSet> &sets, const Attempts &known, Arguments arguments) {
    std::vector<const FoundSet *> upstreams;
    for (const FoundSet &each : sets) {
        if (!attempt_of(each)) {
            upstreams.push_back(&each);
        }
    }
    const Rivals rivals(upstreams);
    const Descriptors descriptors(upstreams);
    arguments.dry_run = true;
    std::set<const FoundSet *> whole; // or will be
    for (const FoundSet *each : upstreams) {
        const auto newer = descriptors.of_another(*each);
        if (!rivals.has_rivals(*each) && !newer && descriptors.beside(*each).empty()) {
            continue;
        }
        FoundSet found = *each;
        const Result result = rebuild_set(found, known, arguments, {});
        const bool is_lost = result.verdict == Verdict::lost; // nothing would be written
        const bool is_rebuildable = result.verdict == Verdict::rebuildable;
        if (rivals.has_rivals(*each) && (is_lost || is_rebuildable)) {
            const auto members = is_lost ? std::vector<MemberState>() : result.survey.members;
            judge(*each, rivals.judge(*each, members), is_lost);
        }
        if (newer && has_lost_files(result) && result_of(*each) == nullptr) {
            judge(*each, *newer);
        }
        if ((is_rebuildable || result.is_whole()) && result_of(*each) == nullptr) {
            whole.insert(each);
        }
    }
    for (FoundSet &each : sets) {
        std::vector<const FoundSet *> others =
            whole.contains(&each) ? descriptors.beside(each) : std::vector<const FoundSet *>();
        std::erase_if(others, [&](const FoundSet *other) { return !whole.contains(other); });
        if (!others.empty()) {
            leave_descriptors_of(others, each);
        }
    }
}

const Result *LeftAlone::result_of(const FoundSet &found) const {
    const auto at = results_.find(&found);
    return at == results_.end() ? nullptr : &at->second;
}

void LeftAlone::judge(const FoundSet &found, Rivals::Judgement judgement, bool is_lost) {
    using Claim = Rivals::Claim;
    if (judgement.claim == Claim::counts || (judgement.claim == Claim::undecided && is_lost)) {
        return;
    }
    Result &result = results_[&found];
    result.verdict = judgement.claim == Claim::superseded ? Verdict::superseded : Verdict::failed;
    result.problem = std::move(judgement.why);
}

// Files that are all as the set tells, but for those that are gone, are of its time.
void LeftAlone::judge(const FoundSet &found, const Descriptors::OfAnother &newer) {
    const std::string file = cd::redset::file_not_as_told(found);
    if (file.empty()) {
        return;
    }
    const auto &[shape, group, groups, member, rank, job_ranks] = newer.descriptor;
    Result &result = results_[&found];
    result.verdict = Verdict::failed;
    result.problem = newer.path + " tells of set " + std::to_string(group + 1) + " of " +
                     std::to_string(groups) + " (" + describe_shape(shape) +
                     "), of which no scheme file was found, and " + file +
                     " is not as this set tells: it may be newer, so that nothing of this set was "
                     "brought back. If this set counts all the same, move descriptors such as that "
                     "one away";
}

} // namespace cdctl
