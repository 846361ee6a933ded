// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/copies.h"

#include "redset/thread_exchange.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace cd::redset {
namespace {

constexpr int merit_of_whole = 7;

// Files cannot be read from elsewhere; a payload can be made of all files again, and the rest takes
// none.
int merit(const MemberState &state) {
    const bool has_tables = state.descriptor_lost.empty() && state.checksums_lost.empty();
    return (state.data_lost.empty() ? 4 : 0) + (state.payload_lost.empty() ? 2 : 0) +
           (has_tables ? 1 : 0);
}

// Of each member what it found.
Status survey_each(const Set &set, const std::vector<Place> &places, Contents contents,
                   std::vector<Survey> &surveys, const Looked &looked) {
    surveys.assign(places.size(), {});
    std::mutex mutex; // members are threads
    uint64_t done = 0;
    const auto of_one = [&](uint64_t bytes, uint64_t all) {
        const std::lock_guard lock(mutex);
        done = std::min(done + bytes, all); // more where it is looked once more
        if (looked) {
            looked(done, all);
        }
    };
    return run_members(set.shape.members, [&](Exchange &exchange) {
        const size_t self = index(exchange.self());
        return take_survey(exchange, set, places[self], contents, surveys[self], of_one);
    });
}

class Choosing {
public:
    Choosing(const Set &set, const std::vector<Copies> &copies, const Looked &looked)
        : set_(set), copies_(copies), looked_(looked), chosen_(copies.size()) {}

    // Looks at what was chosen, and at other copies of the members that are not whole there.
    void look(Contents contents) {
        const std::vector<size_t> first = chosen_;
        std::vector<size_t> trying = chosen_;
        std::vector<size_t> next(copies_.size());
        std::vector<int> best(copies_.size(), -1);
        for (bool more = true; more;) {
            const std::vector<size_t> looked_at = trying;
            std::vector<Survey> surveys;
            // What it fails with is found by whoever does something with the choice.
            const bool suffices =
                survey_each(set_, places(looked_at), contents, surveys, looked_).is_ok();
            const Survey &survey = surveys.front();
            more = false;
            for (size_t member = 0; member < survey.members.size(); ++member) {
                // Nobody has looked at any where nothing tells what the members had.
                const int found = survey.layout ? merit(survey.members[member]) : 0;
                if (survey.layout) {
                    states_[{member, looked_at[member]}] = survey.members[member];
                }
                if (found > best[member]) {
                    best[member] = found;
                    chosen_[member] = trying[member];
                }
                trying[member] = chosen_[member];
                next[member] += next[member] == first[member] ? 1 : 0;
                if (best[member] < merit_of_whole && next[member] < copies_[member].size()) {
                    trying[member] = next[member]++;
                    more = true;
                }
            }
            const bool at_chosen = looked_at == chosen_ && contents == Contents::compared;
            found_ = suffices && at_chosen ? std::move(surveys) : std::vector<Survey>();
        }
    }

    Choice chosen() {
        Choice choice{places(chosen_), std::move(found_), {}};
        for (const auto &[copy, state] : states_) {
            const auto &[member, number] = copy;
            if (number != chosen_[member] && state != MemberState()) {
                choice.passed_over.push_back(
                    {static_cast<int>(member), copies_[member][number].folder, state});
            }
        }
        return choice;
    }

private:
    std::vector<Place> places(const std::vector<size_t> &numbers) const {
        std::vector<Place> places;
        for (size_t member = 0; member < numbers.size(); ++member) {
            places.push_back(copies_[member][numbers[member]]);
        }
        return places;
    }

    const Set &set_;
    const std::vector<Copies> &copies_;
    const Looked &looked_;
    std::vector<size_t> chosen_; // of each member's copies
    std::vector<Survey> found_;  // there
    // Of all copies that were looked at, by member and number, when last looked at.
    std::map<std::pair<size_t, size_t>, MemberState> states_;
};

} // namespace

Choice choose_copies(const Set &set, const std::vector<Copies> &copies, const Looked &looked) {
    Choosing choosing(set, copies, looked);
    const bool any =
        std::ranges::any_of(copies, [](const Copies &each) { return each.size() > 1; });
    if (any) {
        choosing.look(Contents::trusted); // finds without reading them which are not there
        choosing.look(Contents::compared);
    }
    return choosing.chosen();
}

Status survey_all(const Set &set, const std::vector<Place> &places, Contents contents,
                  Survey &survey, const Looked &looked) {
    std::vector<Survey> surveys;
    const Status status = survey_each(set, places, contents, surveys, looked);
    survey = std::move(surveys.front());
    return status;
}

} // namespace cd::redset
