// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline.h"

#include "base/path.h"
#include "redset/scheme_name.h"
#include "redset/scheme_search.h"
#include "redset/strays.h"
#include "redset/thread_exchange.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace cd::redset {
namespace {

constexpr int most_looked_at_anyway = 256; // as many as Reed-Solomon has, of whom most may be lost

constexpr int no_rank = -1; // the rank of a member

// "" where all are known.
std::string why_unknown(const Members &members, const std::vector<int> &ranks) {
    std::set<int> there;
    for (const SchemeFile *file : members) {
        there.insert(file->member);
    }
    std::vector<int> lost;
    std::vector<int> nobody_tells_of;
    for (size_t i = 0; i < ranks.size(); ++i) {
        const int member = static_cast<int>(i);
        if (ranks[i] == no_rank) {
            nobody_tells_of.push_back(member);
        } else if (!there.contains(member)) {
            lost.push_back(ranks[i]);
        }
    }
    if (nobody_tells_of.empty()) {
        return "";
    }
    return (lost.empty() ? "" : "files of " + name_ranks(lost) + " are lost, and ") +
           "nothing that was found tells of " +
           (nobody_tells_of.size() == 1 ? "member " : "members ") + list_ranks(nobody_tells_of) +
           " of " + std::to_string(ranks.size());
}

void find_ranks(const Members &members, FoundSet &found) {
    std::set<int> described;
    std::vector<int> ranks(index(found.set.shape.members), no_rank);
    for (const SchemeFile *file : members) {
        for (const auto &[member, rank] : file->ranks) {
            if (index(member) < ranks.size()) {
                ranks[index(member)] = rank;
            }
        }
        for (const auto &[member, entry] : file->header.members) {
            described.insert(member);
        }
    }
    // Each member is a thread that hears of all others: a damaged number must not make many.
    if (found.set.shape.members > most_looked_at_anyway &&
        std::cmp_less(described.size(), found.set.shape.members)) {
        found.problem = "nothing that was found tells which files " +
                        std::to_string(ranks.size() - described.size()) + " of " +
                        std::to_string(ranks.size()) + " members had";
    }
    if (found.problem.empty()) {
        found.problem = why_unknown(members, ranks);
    }
    found.set.ranks = std::move(ranks);
    if (found.problem.empty() && !check_set(found.set, found.set.shape.members)) {
        found.problem = message();
    }
}

FoundSet found_set(const Members &members, const SchemeSearch &search,
                   const NamesATime &names_a_time, const OnlyFile &only_file) {
    const Descriptor &first = members.front()->own().descriptor;
    FoundSet found;
    found.set = {first.shape, first.group, first.groups, first.job_ranks, {}};
    for (const SchemeFile *file : members) {
        found.found.push_back(file->path);
    }
    find_ranks(members, found);
    found.copies = places_of(members, found.set, search, names_a_time, only_file);
    for (const Copies &each : found.copies) {
        found.places.push_back(each.front());
    }
    found.told.resize(found.copies.size());
    for (const SchemeFile *file : members) {
        for (const auto &[member, entry] : file->header.members) {
            found.told[index(member)] = entry.files;
        }
    }
    return found;
}

// all: who was found of each of the sets.
bool is_of_lost_member(const UnusableFile &file, const std::vector<Members> &all,
                       const std::vector<FoundSet> &sets) {
    const auto name = scheme_name_of(file.name);
    for (size_t i = 0; name && i < sets.size(); ++i) {
        const Place here{"", all[i].front()->prefix};
        const bool is_its = index(name->member) < sets[i].set.ranks.size() &&
                            file.name == here.scheme_file(sets[i].set, name->member);
        const auto is_there = [&](const SchemeFile *each) { return each->member == name->member; };
        if (is_its && std::ranges::none_of(all[i], is_there)) {
            return true;
        }
    }
    return false;
}

Status check_all_bounds(const FoundSet &found, const Survey &survey, const Bounds &bounds) {
    for (size_t member = 0; member < found.places.size(); ++member) {
        Status status =
            check_bounds(found.set, static_cast<int>(member), found.places[member], survey, bounds);
        if (!status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace

bool FoundSet::is_incomplete() const {
    return std::ranges::find(set.ranks, no_rank) != set.ranks.end();
}

Status find_sets(std::span<const std::string> directories, const NamesATime &names_a_time,
                 Search &search, const OnlyFile &only_file) {
    SchemeSearch found;
    if (Status status = find_scheme_files(directories, names_a_time, found); !status) {
        return status;
    }
    std::vector<Members> sets = divide(found.files, names_a_time);
    std::ranges::move(take_strays(sets, names_a_time), std::back_inserter(found.unusable));
    Search result;
    for (const UnusableFile &file : found.unusable) {
        result.unusable.push_back(file.reason);
    }
    for (const Members &members : sets) {
        result.sets.push_back(found_set(members, found, names_a_time, only_file));
    }
    for (const UnusableFile &file : found.unusable) {
        if (!names_a_time(file.folder.name()) && !is_of_lost_member(file, sets, result.sets)) {
            result.unusable_alone.push_back(path_in(file.folder.path(), file.name));
        }
    }
    result.descriptors = std::move(found.descriptors);
    search = std::move(result);
    return Status::ok();
}

Status rebuild_found(FoundSet &found, const Options &options, bool look_only, Survey &survey) {
    if (!found.problem.empty()) {
        return fail(CD_ERROR_REDUNDANCY_EXCEEDED, "set %d of %d: %s; nothing was changed",
                    found.set.group + 1, found.set.groups, found.problem.c_str());
    }
    Choice choice = choose_copies(found.set, found.copies, options.progress);
    found.places = std::move(choice.places);
    found.passed_over = std::move(choice.passed_over);
    std::vector<Survey> surveys = std::move(choice.surveys);
    const bool surveyed = !surveys.empty();
    if (look_only) {
        Status status = Status::ok();
        if (surveyed) {
            survey = std::move(surveys.front());
        } else {
            status =
                survey_all(found.set, found.places, Contents::compared, survey, options.progress);
        }
        return status ? check_all_bounds(found, survey, options.bounds) : status;
    }
    surveys.resize(found.places.size());
    const auto rebuild_own = [&](Exchange &exchange) {
        const size_t self = index(exchange.self());
        const Place &place = found.places[self];
        return surveyed ? rebuild_surveyed(exchange, found.set, place, options, surveys[self])
                        : rebuild(exchange, found.set, place, options, surveys[self]);
    };
    const Status status = run_members(found.set.shape.members, rebuild_own);
    survey = std::move(surveys.front());
    return status;
}

} // namespace cd::redset
