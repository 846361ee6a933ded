// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "left_alone.h"

#include "doubts.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cdctl {
namespace {

using cd::redset::FoundSet;
using Sets = std::vector<const FoundSet *>;

// Sets of which nobody else tells are looked at when their turn comes; here only whether they
// are made of what may have changed, which contents do not tell.
Result glance_at(const FoundSet &found) {
    Result result;
    const bool is_known = found.problem.empty();
    if (!is_known ||
        !survey_all(found.set, found.places, cd::redset::Contents::trusted, result.survey, {})) {
        result.survey = {};
    }
    return result;
}

void leave_descriptors_of(const Sets &others, FoundSet &found) {
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

Result left_as(Verdict verdict, std::string why) {
    Result result;
    result.verdict = verdict;
    result.problem = std::move(why);
    return result;
}

class Judging {
public:
    using Results = std::map<const FoundSet *, Result>;

    Judging(const Sets &sets, const cd::redset::Search &search, bool by_size)
        : doubts_(sets, search, by_size) {}

    // What it is by itself.
    void add(const FoundSet &found, Result result) {
        const bool is_lost = result.verdict == Verdict::lost;
        if (is_lost || result.verdict == Verdict::failed) {
            (is_lost ? open_ : left_)[&found] = std::move(result);
        } else {
            results_[&found] = std::move(result);
        }
    }

    void judge() {
        Results sure;
        for (auto &[each, result] : results_) {
            const bool is_sure = doubts_.why_left(*each, result.survey).empty();
            (is_sure ? sure : open_)[each] = std::move(result);
        }
        for (const auto &[each, result] : sure) {
            will_be_whole(*each, result.survey);
        }
        while (settle_one()) {
        }
        for (auto &[each, result] : open_) {
            leave(*each, std::move(result));
        }
    }

    Doubts &doubts() { return doubts_; }
    const Results &left() const { return left_; }
    const Results &late() const { return late_; }
    const std::set<const FoundSet *> &whole() const { return whole_; }

private:
    void will_be_whole(const FoundSet &found, const cd::redset::Survey &survey) {
        whole_.insert(&found);
        if (!survey.members.empty()) {
            doubts_.outlook().expect(found, survey);
        }
    }

    // survey: as it is, and then as it will be.
    bool will_suffice(const FoundSet &found, const Result &result, cd::redset::Survey &survey) {
        return doubts_.outlook().will_suffice(found, survey) || result.verdict != Verdict::lost;
    }

    // Whether what will be there leaves no doubt of one that was open.
    bool settle_one() {
        for (auto &[each, result] : open_) {
            if (doubts_.rivals().has_successors(*each, whole_)) {
                continue;
            }
            cd::redset::Survey survey = result.survey;
            if (will_suffice(*each, result, survey) && doubts_.why_left(*each, survey).empty()) {
                will_be_whole(*each, survey);
                result.verdict = Verdict::rebuildable;
                result.problem.clear();
                late_.insert(open_.extract(each));
                return true;
            }
        }
        return false;
    }

    void leave(const FoundSet &found, Result result) {
        const std::string why_older = doubts_.rivals().why_older(found);
        cd::redset::Survey survey = result.survey;
        if (doubts_.rivals().has_successors(found, whole_)) {
            left_[&found] = left_as(Verdict::superseded,
                                    why_older + "; such sets have all files of this one, which is "
                                                "left alone");
        } else if (will_suffice(found, result, survey)) {
            left_[&found] = left_as(Verdict::failed, doubts_.why_left(found, survey));
        } else {
            result.problem += why_older.empty() ? ""
                                                : "; " + why_older +
                                                      ". If this set does not count, move its "
                                                      "scheme files away";
            left_[&found] = std::move(result);
        }
    }

    Doubts doubts_;
    Results results_; // of what can be brought back, or is whole
    Results open_;    // lost, or in doubt
    Results left_;
    Results late_; // to be brought back when others have been
    std::set<const FoundSet *> whole_;
};

} // namespace

LeftAlone::LeftAlone(cd::redset::Search &search, const Attempts &known, Arguments arguments) {
    Sets upstreams;
    for (const FoundSet &each : search.sets) {
        if (!attempt_of(each)) {
            upstreams.push_back(&each);
        }
    }
    Judging judging(upstreams, search, arguments.by_size);
    const bool dry_run = std::exchange(arguments.dry_run, true);
    for (const FoundSet *each : upstreams) {
        if (judging.doubts().any_other_tells(*each)) {
            looked_at_.insert(each);
            FoundSet copy = *each;
            judging.add(*each, rebuild_set(copy, known, arguments, {}));
        } else {
            judging.add(*each, glance_at(*each));
        }
    }
    judging.judge();
    results_ = judging.left();
    for (const auto &[each, result] : judging.late()) {
        late_.insert(each);
        if (dry_run) {
            results_[each] = result;
        }
    }
    for (FoundSet &each : search.sets) {
        const std::set<const FoundSet *> &whole = judging.whole();
        Sets others = whole.contains(&each) ? judging.doubts().descriptors().beside(each) : Sets();
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

} // namespace cdctl
