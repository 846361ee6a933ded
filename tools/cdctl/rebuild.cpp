// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/text.h"
#include "checkpoints.h"
#include "describe.h"
#include "main.h"
#include "output.h"
#include "redset/atomic_files.h"
#include "redset/offline_rebuild.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cdctl {
namespace {

namespace fs = std::filesystem;
using cd::redset::FoundSet;
using cd::redset::MemberState;
using cd::redset::scheme_name;
using Standing = Checkpoints::Standing;

enum class Verdict { whole, rebuilt, rebuildable, unfinished, failed, lost };

// A set, and the result of its rebuild. Its checkpoint may have sets of which no file was found.
struct SetBelow {
    FoundSet found;
    std::optional<Checkpoint> checkpoint;
    std::string directory; // of one of its scheme files, or of another set's

    Verdict verdict = Verdict::whole;
    std::string problem = {}; // "" without one
    bool is_unrecorded = false;
    std::optional<Checkpoint> start = {}; // that programs start from, if it is known
    cd::redset::OfflineResult offline = {};

    bool is_whole() const { return verdict == Verdict::whole || verdict == Verdict::rebuilt; }
    bool is_there() const { return is_whole() || verdict == Verdict::rebuildable; }
    // True if programs start from another checkpoint than this one.
    bool is_replaced() const { return !is_whole() && start && start != checkpoint; }
};

const char *name_of(Verdict verdict) {
    constexpr const char *names[] = {"whole",      "rebuilt", "rebuildable",
                                     "unfinished", "failed",  "lost"};
    return names[static_cast<size_t>(verdict)];
}

// An unrecorded checkpoint is no start, and its root has no other one.
Outcome outcome_of(const SetBelow &set, bool agree) {
    constexpr Outcome outcomes[] = {Outcome::good, Outcome::good,       Outcome::older,
                                    Outcome::good, Outcome::unreadable, Outcome::damaged};
    if (set.is_replaced() && set.verdict != Verdict::failed) {
        return Outcome::good;
    }
    const Outcome outcome = outcomes[static_cast<size_t>(set.verdict)];
    if (!set.is_unrecorded || (agree && set.is_whole())) {
        return outcome;
    }
    return std::max(outcome, set.is_there() ? Outcome::older : Outcome::damaged);
}

void complain(const std::string &sentence) {
    std::fprintf(stderr, "cdctl: %s\n", printable(sentence).c_str());
}

// ---- Finding sets

// Adds the sets without any scheme file, where other sets record that there are more.
void add_missing_sets(std::vector<SetBelow> &sets) {
    constexpr int most = 256; // a damaged number of sets must not make many
    std::map<std::tuple<std::optional<Checkpoint>, int, int>, std::map<int, const SetBelow *>> jobs;
    for (const SetBelow &each : sets) {
        const cd::redset::Set &set = each.found.set;
        jobs[{each.checkpoint, set.groups, set.job_ranks}].emplace(set.group, &each);
    }
    std::vector<SetBelow> missing;
    for (const auto &[key, groups] : jobs) {
        const SetBelow &other = *groups.begin()->second;
        for (int group = 0; group < std::min(other.found.set.groups, most); ++group) {
            if (!groups.contains(group)) {
                SetBelow &set =
                    missing.emplace_back(SetBelow{{}, other.checkpoint, other.directory});
                set.found.set.group = group;
                set.found.set.groups = other.found.set.groups;
                set.found.problem = "not found; the data of its ranks are lost";
            }
        }
    }
    std::ranges::move(missing, std::back_inserter(sets));
}

// Finds the sets below the given directories, the newest checkpoints first. Adds sentences about
// files that cannot be used to `unusable`.
std::vector<SetBelow> find_all(const std::vector<std::string> &directories,
                               std::vector<std::string> &unusable) {
    const auto names_checkpoint = [](std::string_view name) {
        return cd::checkpoint::id_of_directory(name).has_value();
    };
    std::vector<SetBelow> sets;
    cd::redset::Search search;
    if (!find_sets(directories, names_checkpoint, search)) {
        unusable.emplace_back(cd::without_repeating(cd::message()));
        return sets;
    }
    unusable = std::move(search.unusable);
    for (FoundSet &found : search.sets) {
        const fs::path file = found.scheme_files.front();
        sets.push_back({std::move(found), checkpoint_of(file),
                        fs::weakly_canonical(file).parent_path().string()});
    }
    std::ranges::stable_sort(sets, std::greater<>(), &SetBelow::checkpoint);
    add_missing_sets(sets);
    if (sets.empty()) {
        unusable.emplace_back("no scheme file of a set can be read there");
    }
    return sets;
}

// ---- Rebuilding

// Removes drafts of an interrupted rebuild, which lie beside the descriptors of a set.
void remove_drafts(const SetBelow &set, const std::vector<std::string> &bounds) {
    std::set<fs::path> folders;
    for (size_t member = 0; member < set.offline.places.size(); ++member) {
        const std::string descriptor =
            set.offline.places[member].descriptor(set.found.set, static_cast<int>(member));
        folders.insert(fs::path(descriptor).parent_path());
    }
    for (const fs::path &folder : folders) {
        if (cd::redset::is_in_bounds(folder.string(), bounds)) {
            cd::redset::remove_drafts(folder.string());
        }
    }
}

void rebuild_set(const Checkpoints &known, const Arguments &arguments,
                 cd::redset::Progress progress, SetBelow &set) {
    cd::Status status = known.check_usable(set.checkpoint);
    if (!status) {
        set.verdict = Verdict::failed;
        set.problem = cd::message();
        return;
    }
    const Standing standing = known.of(set.checkpoint);
    if (standing == Standing::unfinished || standing == Standing::removed) {
        set.verdict = Verdict::unfinished;
        set.problem = standing == Standing::removed
                          ? "the root was committed, and a program ended while it removed this "
                            "checkpoint; no program starts from it"
                          : "a program ended while it wrote this checkpoint; no program starts "
                            "from it";
        return;
    }
    cd::redset::Options options;
    options.progress = std::move(progress);
    status = rebuild_offline(set.found, options, arguments.paths, arguments.dry_run, set.offline);
    // Programs do not start from a set without a record, even if it is whole.
    set.is_unrecorded = standing == Standing::unrecorded ||
                        (status && !known.has_records_of(set.checkpoint, set.found.set.group));
    const auto is_damaged = [](const MemberState &member) { return member != MemberState(); };
    if (!status) {
        const bool exceeded = status.code() == CD_ERROR_REDUNDANCY_EXCEEDED;
        set.verdict = exceeded ? Verdict::lost : Verdict::failed;
        set.problem = cd::message();
    } else if (std::ranges::any_of(set.offline.survey.members, is_damaged)) {
        set.verdict = arguments.dry_run ? Verdict::rebuildable : Verdict::rebuilt;
    }
    if (status && !arguments.dry_run) {
        remove_drafts(set, arguments.paths);
    }
    constexpr const char *unrecorded = "no record says that all ranks had this checkpoint";
    if (set.is_unrecorded && status && !arguments.agree) {
        set.problem = std::string(unrecorded) + "; `cdctl rebuild --agree` makes it usable";
    } else if (set.is_unrecorded && set.verdict == Verdict::lost) {
        set.verdict = Verdict::unfinished;
        set.problem = std::string(unrecorded) + ", and it cannot be rebuilt: " + set.problem;
    }
}

// ---- Which checkpoint programs start from

// True if programs try to start from `a` before `b`.
bool is_tried_before(const Checkpoint &a, const Checkpoint &b) {
    return std::pair(a.id.number, -a.id.level) > std::pair(b.id.number, -b.id.level);
}

// Finds the newest checkpoint of each root whose sets are all whole or can be rebuilt. It is
// unknown for a root with a set that has failed.
void find_starts(std::vector<SetBelow> &sets, bool agree) {
    std::map<Checkpoint, std::set<int>> groups; // that are there
    std::set<std::string> unknown;              // roots
    std::map<std::string, Checkpoint> starts;
    for (const SetBelow &set : sets) {
        if (!set.checkpoint) {
            continue;
        }
        std::set<int> &there = groups[*set.checkpoint];
        if (set.is_there() && (!set.is_unrecorded || agree)) {
            there.insert(set.found.set.group);
        }
        if (set.verdict == Verdict::failed) {
            unknown.insert(set.checkpoint->root);
        }
        if (std::cmp_equal(there.size(), set.found.set.groups)) {
            Checkpoint &start = starts.emplace(set.checkpoint->root, *set.checkpoint).first->second;
            start = is_tried_before(*set.checkpoint, start) ? *set.checkpoint : start;
        }
    }
    for (SetBelow &set : sets) {
        const auto start = set.checkpoint ? starts.find(set.checkpoint->root) : starts.end();
        if (start == starts.end() || unknown.contains(start->first)) {
            continue;
        }
        set.start = start->second;
        if (set.is_replaced()) {
            set.problem += (set.problem.empty() ? "" : "; ");
            set.problem += "programs start from epoch " + std::to_string(set.start->id.epoch) +
                           " instead, the newest usable one";
        }
    }
}

// Commits the checkpoints without records whose sets are all whole. Returns them.
std::set<Checkpoint> commit_unrecorded(const std::vector<SetBelow> &sets, Outcome &outcome) {
    std::map<Checkpoint, std::vector<WholeSet>> whole;
    std::set<Checkpoint> wanted;
    for (const SetBelow &set : sets) {
        if (set.checkpoint && set.is_whole()) {
            whole[*set.checkpoint].push_back({&set.found, &set.offline.places});
            if (set.is_unrecorded) {
                wanted.insert(*set.checkpoint);
            }
        }
    }
    std::erase_if(wanted, [&](const Checkpoint &checkpoint) {
        if (commit_checkpoint(whole.at(checkpoint))) {
            return false;
        }
        complain(cd::message());
        outcome = std::max(outcome, Outcome::unreadable);
        return true;
    });
    return wanted;
}

// ---- What is printed

std::string title_of(const SetBelow &set) {
    const auto &[coding, group, groups, job_ranks, ranks] = set.found.set;
    const std::string title = "set " + std::to_string(group + 1) + " of " + std::to_string(groups);
    return set.found.scheme_files.empty() ? title + " of " + set.directory
                                          : title + " (" + scheme_name(coding.scheme) + ", " +
                                                cd::counted(coding.members, "member") + ") of " +
                                                set.found.scheme_files.front();
}

struct Loss {
    const char *what;
    const char *key;
    const std::string &why; // "" for what is not lost
};

std::vector<Loss> losses(const MemberState &state) {
    return {{"files", "files_lost", state.data_lost},
            {"scheme file", "scheme_file_lost", state.payload_lost},
            {"descriptor", "descriptor_lost", state.descriptor_lost},
            {"checksums", "checksums_lost", state.checksums_lost}};
}

void print(const SetBelow &set) {
    const auto &survey = set.offline.survey;
    std::printf("%s: %s%s\n", printable(title_of(set)).c_str(), name_of(set.verdict),
                survey.layout && !survey.checksums ? "; there are no checksums" : "");
    if (!set.problem.empty()) {
        std::printf("  %s\n", printable(set.problem).c_str());
    }
    const std::vector<int> &ranks = set.found.set.ranks;
    for (size_t member = 0; member < survey.members.size(); ++member) {
        for (const auto &[what, key, why] : losses(survey.members[member])) {
            if (!why.empty()) {
                std::printf("  rank %d: %s lost: %s\n", ranks[member], what,
                            printable(why).c_str());
            }
        }
    }
}

// `committed`: its records have been written now.
Json describe(const SetBelow &set, bool committed) {
    const FoundSet &found = set.found;
    const bool known = !found.scheme_files.empty();
    const Json epoch = set.start ? Json(set.start->id.epoch) : Json();
    const bool newer = set.is_replaced() && is_tried_before(*set.start, *set.checkpoint);
    Json json = {
        {"set", found.set.group},
        {"sets", found.set.groups},
        {"scheme", known ? Json(scheme_name(found.set.coding.scheme)) : Json()},
        {"members", known ? Json(found.set.coding.members) : Json()},
        {"checks", known ? Json(found.set.coding.checks) : Json()},
        {"verdict", name_of(set.verdict)},
        {"checksums", set.offline.survey.checksums.has_value()},
        {"agreed", committed || (!set.is_unrecorded && set.verdict != Verdict::unfinished)},
        {"problem", text_or_null(set.problem)},
        {"start_epoch", epoch},
        {"newer_epoch", newer ? epoch : Json()},
        {"scheme_files", found.scheme_files},
        {"ranks", Json::array()}};
    for (size_t member = 0; member < set.offline.survey.members.size(); ++member) {
        Json rank = {{"rank", found.set.ranks[member]},
                     {"directory", set.offline.places[member].folder}};
        for (const auto &[what, key, why] : losses(set.offline.survey.members[member])) {
            rank[key] = text_or_null(why);
        }
        json["ranks"].push_back(rank);
    }
    return json;
}

} // namespace

Outcome rebuild(const Arguments &arguments) {
    std::vector<std::string> unusable;
    std::vector<SetBelow> sets = find_all(arguments.paths, unusable);
    std::ranges::for_each(unusable, complain);
    const Checkpoints known(arguments.paths, arguments.dry_run);
    for (size_t i = 0; i < sets.size(); ++i) {
        ProgressLine line("set " + std::to_string(i + 1) + " of " + std::to_string(sets.size()));
        rebuild_set(
            known, arguments, [&](uint64_t done, uint64_t all) { line.show(done, all); }, sets[i]);
    }
    find_starts(sets, arguments.agree);
    Outcome outcome = sets.empty() ? Outcome::unreadable : Outcome::good;
    std::set<Checkpoint> committed;
    if (arguments.agree && !arguments.dry_run) {
        committed = commit_unrecorded(sets, outcome);
    }
    Json described = Json::array();
    for (const SetBelow &set : sets) {
        outcome = std::max(outcome, outcome_of(set, arguments.agree && !arguments.dry_run));
        if (arguments.json) {
            described.push_back(
                describe(set, set.checkpoint && committed.contains(*set.checkpoint)));
        } else {
            print(set);
        }
    }
    if (arguments.json) {
        print_json({{"dry_run", arguments.dry_run}, {"sets", described}, {"unusable", unusable}});
    }
    return outcome;
}

} // namespace cdctl
