// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rebuilt_set.h"

#include "alone.h"
#include "redset/bounds.h"
#include "redset/draft_mark.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace cdctl {
namespace {

using cd::redset::MemberState;

Outcome outcome_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::whole:
    case Verdict::rebuilt:
    case Verdict::unfinished: // nobody needs it
    case Verdict::superseded:
        return Outcome::good;
    case Verdict::rebuildable:
        return Outcome::older;
    case Verdict::failed:
        return Outcome::unreadable;
    case Verdict::lost:
        break;
    }
    return Outcome::damaged;
}

bool anything_lost(const cd::redset::Survey &survey) {
    return std::any_of(survey.members.begin(), survey.members.end(),
                       [](const MemberState &member) { return member != MemberState(); });
}

// Whether a program that starts looks at a before it comes to b, as the library orders them.
bool is_tried_before(const Attempt &a, const Attempt &b) {
    return std::pair(a.point.number, -a.point.level) > std::pair(b.point.number, -b.point.level);
}

const char *nobody_needs(Attempts::Standing standing) {
    switch (standing) {
    case Attempts::Standing::unfinished:
        return "a program ended while it protected this point in time; no program starts from it, "
               "and the next one removes it";
    case Attempts::Standing::forgotten:
        return "the root was committed, and a program ended while it removed this point in time; "
               "no program starts from it, and the next one removes it";
    default:
        return nullptr;
    }
}

// Where a rebuild writes that was killed, though there may be nothing more to write now, and not
// where it may not. What belongs above the directory of a member's files may be anybody's.
void remove_what_was_interrupted(const cd::redset::FoundSet &found,
                                 const cd::redset::Survey &survey,
                                 const cd::redset::Bounds &bounds) {
    std::set<std::filesystem::path> folders;
    for (size_t member = 0; member < found.places.size(); ++member) {
        const cd::redset::Place &place = found.places[member];
        const std::filesystem::path own = place.descriptor(found.set, static_cast<int>(member));
        folders.insert(own.parent_path());
        for (const cd::redset::StoredFile &file : survey.files[member]) {
            if (!file.name.starts_with('/') && file.name.find("..") == std::string::npos) {
                folders.insert(std::filesystem::path(place.path(file.name)).parent_path());
            }
        }
    }
    for (const std::filesystem::path &folder : folders) {
        if (cd::redset::is_in_bounds(folder.string(), bounds)) {
            cd::redset::remove_drafts_of_the_dead(folder.string());
        }
    }
}

// What records do not tell, or no more.
void judge_records(const Arguments &arguments, bool status, Result &result) {
    if (result.is_unrecorded() && status && !arguments.agree) {
        result.problem = "no record says that all ranks had this point in time, so that programs "
                         "start from it only after cdctl rebuild --agree";
    } else if (result.is_unrecorded() && result.verdict == Verdict::lost) {
        result.verdict = Verdict::unfinished;
        result.problem = "no record says that all ranks had this point in time, and it cannot be "
                         "brought back: " +
                         result.problem;
    } else if (result.standing == Attempts::Standing::damaged && status) {
        result.verdict = arguments.dry_run ? Verdict::rebuildable : Verdict::rebuilt;
        result.problem = "the records of its ranks that are left are damaged";
    }
}

} // namespace

const char *name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::whole:
        return "whole";
    case Verdict::rebuilt:
        return "rebuilt";
    case Verdict::rebuildable:
        return "rebuildable";
    case Verdict::unfinished:
        return "unfinished";
    case Verdict::superseded:
        return "superseded";
    case Verdict::failed:
        return "failed";
    case Verdict::lost:
        break;
    }
    return "lost";
}

Result rebuild_set(cd::redset::FoundSet &found, const Attempts &known, const Arguments &arguments,
                   std::function<void(uint64_t done, uint64_t all)> progress) {
    const bool dry_run = arguments.dry_run;
    Result result;
    Alone alone;
    cd::Status status = alone.with(found, dry_run);
    status = status ? known.check_known(found) : status;
    result.standing = known.of(found);
    const char *not_needed = nobody_needs(result.standing);
    if (status && not_needed != nullptr) {
        result.verdict = Verdict::unfinished;
        result.problem = not_needed;
        return result;
    }
    if (status) {
        cd::redset::Options options;
        options.progress = std::move(progress);
        options.bounds = arguments.paths;
        known.name_ranks(found);
        status = rebuild_found(found, options, dry_run, result.survey);
    }
    if (!status) {
        const bool exceeded = status.code() == CD_ERROR_REDUNDANCY_EXCEEDED;
        result.verdict = exceeded ? Verdict::lost : Verdict::failed;
        result.problem = cd::message();
    } else if (anything_lost(result.survey)) {
        result.verdict = dry_run ? Verdict::rebuildable : Verdict::rebuilt;
    }
    if (status && !dry_run) {
        remove_what_was_interrupted(found, result.survey, arguments.paths);
    }
    judge_records(arguments, status.is_ok(), result);
    return result;
}

Result missing_set(const Attempts::Missing &missing, const Arguments &arguments) {
    Result result;
    result.verdict = Verdict::lost;
    result.standing = missing.standing;
    result.problem = missing.set.problem;
    judge_records(arguments, false, result);
    return result;
}

void Starts::note(const cd::redset::FoundSet &found, const Result &result,
                  const Arguments &arguments) {
    const auto attempt = attempt_of(found);
    if (!attempt) {
        return;
    }
    Sets &sets = attempts_[*attempt];
    const bool there = result.is_whole() || result.verdict == Verdict::rebuildable;
    if (there && (!result.is_unrecorded() || arguments.agree)) {
        sets.wanted = found.set.groups;
        sets.there.insert(found.set.group);
    }
    sets.any_failed = sets.any_failed || result.verdict == Verdict::failed;
}

const Attempt *Starts::start_of(const Attempt &run) const {
    const Attempt *start = nullptr;
    for (const auto &[attempt, sets] : attempts_) {
        if (known_.are_of_one_run(attempt, run) && sets.wanted > 0 &&
            std::cmp_equal(sets.there.size(), sets.wanted) &&
            (start == nullptr || is_tried_before(attempt, *start))) {
            start = &attempt;
        }
    }
    return start;
}

bool Starts::any_failed_before(const Attempt &start) const {
    return std::ranges::any_of(attempts_, [&](const auto &each) {
        return each.second.any_failed && known_.are_of_one_run(each.first, start) &&
               is_tried_before(each.first, start);
    });
}

void Starts::judge(const std::optional<Attempt> &attempt, Result &result) const {
    const Attempt *start = attempt ? start_of(*attempt) : nullptr;
    if (start == nullptr) {
        return;
    }
    const bool is_sure = !any_failed_before(*start);
    if (is_sure) {
        result.start = start->point.epoch;
    }
    if (result.is_whole() || result.verdict == Verdict::failed) {
        return;
    }
    if (is_tried_before(*start, *attempt)) {
        result.instead = Instead::newer;
    } else if (is_tried_before(*attempt, *start) && is_sure) {
        result.instead = Instead::older;
    }
    if (is_sure && result.instead != Instead::nothing) {
        result.problem += (result.problem.empty() ? "" : "; ") +
                          (start->point.number == attempt->point.number
                               ? "programs start from another copy of this point in time"
                               : "programs start from epoch " + std::to_string(*result.start) +
                                     " instead, the newest that can be had");
    }
}

// What nobody says counted is no start, so that nothing is good where nothing else is one.
Outcome outcome_of(const Result &result, bool root_counts) {
    if (result.instead != Instead::nothing) {
        return Outcome::good;
    }
    const Outcome outcome = outcome_of(result.verdict);
    if (!result.is_unrecorded() || root_counts) {
        return outcome;
    }
    return std::max(outcome,
                    result.verdict == Verdict::unfinished ? Outcome::damaged : Outcome::older);
}

} // namespace cdctl
