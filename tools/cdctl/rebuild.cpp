// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/text.h"
#include "checkpoints.h"
#include "json.h"
#include "main.h"
#include "redset/atomic_files.h"
#include "redset/offline_rebuild.h"
#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
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

// A set that was found, or one of which nothing was found beside others.
struct SetBelow {
    FoundSet found;
    std::optional<Checkpoint> checkpoint;
    std::string directory; // of one of its scheme files, or of another set's
};

enum class Verdict { whole, rebuilt, rebuildable, unfinished, failed, lost };

struct Result {
    Verdict verdict = Verdict::whole;
    std::string problem; // "" without one
    Standing standing = Standing::committed;
    std::optional<uint64_t> start; // the epoch that programs start from, if there is one
    bool starts_newer = false;     // from a newer checkpoint than this one
    bool starts_older = false;
    cd::redset::OfflineResult offline;

    bool is_whole() const { return verdict == Verdict::whole || verdict == Verdict::rebuilt; }
    bool is_unrecorded() const { return standing == Standing::unrecorded; }
};

const char *name_of(Verdict verdict) {
    constexpr const char *names[] = {"whole",      "rebuilt", "rebuildable",
                                     "unfinished", "failed",  "lost"};
    return names[static_cast<size_t>(verdict)];
}

Outcome outcome_of(Verdict verdict) {
    constexpr Outcome outcomes[] = {Outcome::good, Outcome::good,       Outcome::older,
                                    Outcome::good, Outcome::unreadable, Outcome::damaged};
    return outcomes[static_cast<size_t>(verdict)];
}

// An unrecorded checkpoint is no start, so that nothing is good where its root has no other one.
Outcome outcome_of(const Result &result, bool root_has_committed) {
    if (result.starts_newer || result.starts_older) {
        return Outcome::good;
    }
    const Outcome outcome = outcome_of(result.verdict);
    if (!result.is_unrecorded() || root_has_committed) {
        return outcome;
    }
    return std::max(outcome,
                    result.verdict == Verdict::unfinished ? Outcome::damaged : Outcome::older);
}

// ---- One set

// Removes what an interrupted rebuild left in the directories of a set.
void remove_drafts(const FoundSet &found, const Result &result,
                   const std::vector<std::string> &bounds) {
    std::set<fs::path> folders;
    for (size_t member = 0; member < result.offline.places.size(); ++member) {
        const cd::redset::Place &place = result.offline.places[member];
        folders.insert(
            fs::path(place.descriptor(found.set, static_cast<int>(member))).parent_path());
        for (const cd::redset::StoredFile &file : result.offline.survey.files[member]) {
            // What a name leads up to may be anybody's directory.
            if (!file.name.starts_with('/') && file.name.find("..") == std::string::npos) {
                folders.insert(fs::path(place.path(file.name)).parent_path());
            }
        }
    }
    for (const fs::path &folder : folders) {
        if (cd::redset::is_in_bounds(folder.string(), bounds)) {
            cd::redset::remove_drafts(folder.string());
        }
    }
}

void judge_records(const Arguments &arguments, bool succeeded, Result &result) {
    if (result.is_unrecorded() && succeeded && !arguments.agree) {
        result.problem = "no record says that all ranks had this checkpoint; `cdctl rebuild "
                         "--agree` makes it usable";
    } else if (result.is_unrecorded() && result.verdict == Verdict::lost) {
        result.verdict = Verdict::unfinished;
        result.problem = "no record says that all ranks had this checkpoint, and it cannot be "
                         "brought back: " +
                         result.problem;
    } else if (result.standing == Standing::damaged && succeeded) {
        result.verdict = arguments.dry_run ? Verdict::rebuildable : Verdict::rebuilt;
        result.problem = "the records of its ranks that are left are damaged";
    }
}

Result rebuild_set(const SetBelow &set, const Checkpoints &known, const Arguments &arguments,
                   cd::redset::Progress progress) {
    const bool dry_run = arguments.dry_run;
    Result result;
    CheckpointLock lock;
    cd::Status status = lock.take(set.found, dry_run);
    status = status ? known.check_readable(set.checkpoint) : status;
    result.standing = known.of(set.checkpoint, set.found.set.group);
    if (status &&
        (result.standing == Standing::unfinished || result.standing == Standing::removed)) {
        result.verdict = Verdict::unfinished;
        result.problem = result.standing == Standing::removed
                             ? "the root was committed, and a program ended while it removed this "
                               "checkpoint; no program starts from it"
                             : "a program ended while it wrote this checkpoint; no program starts "
                               "from it";
        return result;
    }
    if (status) {
        cd::redset::Options options;
        options.progress = std::move(progress);
        status = rebuild_offline(set.found, options, arguments.paths, dry_run, result.offline);
    }
    const auto &members = result.offline.survey.members;
    if (!status) {
        const bool exceeded = status.code() == CD_ERROR_REDUNDANCY_EXCEEDED;
        result.verdict = exceeded ? Verdict::lost : Verdict::failed;
        result.problem = cd::message();
    } else if (std::ranges::any_of(
                   members, [](const MemberState &member) { return member != MemberState(); })) {
        result.verdict = dry_run ? Verdict::rebuildable : Verdict::rebuilt;
    }
    if (status && !dry_run) {
        remove_drafts(set.found, result, arguments.paths);
    }
    judge_records(arguments, status.is_ok(), result);
    return result;
}

// ---- Which checkpoint programs start from

// Programs look at `a` before they come to `b`.
bool is_tried_before(const Checkpoint &a, const Checkpoint &b) {
    return std::pair(a.id.number, -a.id.level) > std::pair(b.id.number, -b.id.level);
}

// Finds the newest checkpoint of each root of which all sets are there, or can be rebuilt.
class Starts {
public:
    void add(const SetBelow &set, const Result &result, const Arguments &arguments) {
        if (!set.checkpoint) {
            return;
        }
        Sets &sets = checkpoints_[*set.checkpoint];
        const bool there = result.is_whole() || result.verdict == Verdict::rebuildable;
        if (there && (!result.is_unrecorded() || arguments.agree)) {
            sets.wanted = set.found.set.groups;
            sets.there.insert(set.found.set.group);
        }
        sets.any_failed = sets.any_failed || result.verdict == Verdict::failed;
    }

    void judge(const std::optional<Checkpoint> &checkpoint, Result &result) const {
        const Checkpoint *start = checkpoint ? start_of(checkpoint->root) : nullptr;
        // Nobody knows whether a program can start from one that failed.
        if (start == nullptr || any_failed_before(*start)) {
            return;
        }
        result.start = start->id.epoch;
        if (result.is_whole() || result.verdict == Verdict::failed) {
            return;
        }
        result.starts_newer = is_tried_before(*start, *checkpoint);
        result.starts_older = is_tried_before(*checkpoint, *start);
        if (result.starts_newer || result.starts_older) {
            result.problem += (result.problem.empty() ? "" : "; ") +
                              (start->id.number == checkpoint->id.number
                                   ? "programs start from another copy of this checkpoint"
                                   : "programs start from epoch " + std::to_string(*result.start) +
                                         " instead, the newest that can be had");
        }
    }

private:
    struct Sets {
        int wanted = 0;
        std::set<int> there;
        bool any_failed = false;
    };

    const Checkpoint *start_of(const std::string &root) const {
        const Checkpoint *start = nullptr;
        for (const auto &[checkpoint, sets] : checkpoints_) {
            if (checkpoint.root == root && sets.wanted > 0 &&
                std::cmp_equal(sets.there.size(), sets.wanted) &&
                (start == nullptr || is_tried_before(checkpoint, *start))) {
                start = &checkpoint;
            }
        }
        return start;
    }

    bool any_failed_before(const Checkpoint &start) const {
        return std::ranges::any_of(checkpoints_, [&](const auto &each) {
            return each.second.any_failed && each.first.root == start.root &&
                   is_tried_before(each.first, start);
        });
    }

    std::map<Checkpoint, Sets> checkpoints_;
};

// ---- What is printed

// Shows on a terminal how far a rebuild is, in a line that is gone at the end.
class ProgressLine {
public:
    ProgressLine(size_t set, size_t sets)
        : shown_(::isatty(STDERR_FILENO) == 1), set_(set), sets_(sets) {
        if (shown_) {
            std::fprintf(stderr, "\rset %zu of %zu\033[K", set_ + 1, sets_);
        }
    }
    ProgressLine(const ProgressLine &) = delete;
    ~ProgressLine() {
        if (shown_) {
            std::fputs("\r\033[K", stderr);
        }
    }

    void show(uint64_t done, uint64_t all) {
        const uint64_t percent = done * 100 / all;
        if (shown_ && percent != percent_) {
            percent_ = percent;
            std::fprintf(stderr, "\rset %zu of %zu, %llu %%\033[K", set_ + 1, sets_,
                         static_cast<unsigned long long>(percent));
        }
    }

private:
    const bool shown_;
    const size_t set_;
    const size_t sets_;
    uint64_t percent_ = 0;
};

struct Judged {
    const SetBelow *set;
    Result result;
};

std::string title_of(const SetBelow &set) {
    const auto &[shape, group, groups, job_ranks, ranks] = set.found.set;
    const std::string title = "set " + std::to_string(group + 1) + " of " + std::to_string(groups);
    return set.found.scheme_files.empty() ? title + " of " + set.directory
                                          : title + " (" + scheme_name(shape.scheme) + ", " +
                                                cd::counted(shape.members, "member") + ") of " +
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

void print_losses(int rank, const std::string &which, const MemberState &state) {
    for (const auto &[what, key, why] : losses(state)) {
        if (!why.empty()) {
            std::printf("  rank %d: %s%s lost: %s\n", rank, printable(which).c_str(), what,
                        printable(why).c_str());
        }
    }
}

void print(const SetBelow &set, const Result &result) {
    const auto &[places, damaged_copies, survey] = result.offline;
    std::printf("%s: %s%s\n", printable(title_of(set)).c_str(), name_of(result.verdict),
                survey.layout && !survey.checksums ? "; there are no checksums" : "");
    if (!result.problem.empty()) {
        std::printf("  %s\n", printable(result.problem).c_str());
    }
    const std::vector<int> &ranks = set.found.set.ranks;
    for (size_t member = 0; member < survey.members.size(); ++member) {
        print_losses(ranks[member], "", survey.members[member]);
    }
    for (const auto &[member, folder, state] : damaged_copies) {
        print_losses(ranks[static_cast<size_t>(member)],
                     "a copy in " + folder + " was passed over, its ", state);
    }
}

void text_or_null(Json &json, std::string_view key, const std::string &text) {
    json.key(key);
    text.empty() ? json.null() : json.value(text);
}

void describe_losses(const MemberState &state, Json &json) {
    for (const auto &[what, key, why] : losses(state)) {
        text_or_null(json, key, why);
    }
}

void describe_members(const FoundSet &found, const cd::redset::OfflineResult &offline, Json &json) {
    json.key("ranks").begin_array();
    for (size_t member = 0; member < offline.survey.members.size(); ++member) {
        json.begin_object().member("rank", found.set.ranks[member]);
        json.member("directory", offline.places[member].folder);
        describe_losses(offline.survey.members[member], json);
        json.key("damaged_copies").begin_array();
        for (const auto &[of, folder, state] : offline.damaged_copies) {
            if (std::cmp_equal(of, member)) {
                json.begin_object().member("directory", folder);
                describe_losses(state, json);
                json.end_object();
            }
        }
        json.end_array().end_object();
    }
    json.end_array();
}

// `committed`: its records have been written now.
void describe(const FoundSet &found, const Result &result, bool committed, Json &json) {
    const auto epoch_or_null = [&](std::string_view key, bool known) {
        json.key(key);
        known &&result.start ? json.value(*result.start) : json.null();
    };
    const auto &shape = found.set.shape;
    json.begin_object().member("set", found.set.group).member("sets", found.set.groups);
    if (found.scheme_files.empty()) {
        json.key("scheme").null().key("members").null().key("checks").null();
    } else {
        json.member("scheme", scheme_name(shape.scheme)).member("members", shape.members);
        json.member("checks", shape.checks);
    }
    json.member("verdict", name_of(result.verdict));
    json.member("checksums", result.offline.survey.checksums.has_value());
    json.member("agreed",
                committed || (!result.is_unrecorded() && result.verdict != Verdict::unfinished));
    text_or_null(json, "problem", result.problem);
    epoch_or_null("start_epoch", true);
    epoch_or_null("newer_epoch", result.starts_newer);
    json.key("scheme_files").begin_array();
    for (const std::string &path : found.scheme_files) {
        json.value(path);
    }
    json.end_array();
    describe_members(found, result.offline, json);
    json.end_object();
}

void print_json(const Arguments &arguments, const std::vector<Judged> &sets,
                const std::vector<std::string> &unusable, const std::set<Checkpoint> &committed) {
    Json json;
    json.begin_object().member("dry_run", arguments.dry_run).key("sets").begin_array();
    for (const auto &[set, result] : sets) {
        const bool is_committed = !set->found.scheme_files.empty() && set->checkpoint &&
                                  committed.contains(*set->checkpoint);
        describe(set->found, result, is_committed, json);
    }
    json.end_array().key("unusable").begin_array();
    for (const std::string &sentence : unusable) {
        json.value(sentence);
    }
    json.end_array().end_object();
    std::puts(json.text().c_str());
}

void print_starts(const std::vector<Judged> &sets) {
    std::set<std::string> lines;
    for (const auto &[set, result] : sets) {
        if (result.verdict == Verdict::lost && result.starts_older) {
            lines.insert("root " + set->checkpoint->root + ": programs start from epoch " +
                         std::to_string(*result.start) + ", as what is newer is lost");
        }
    }
    for (const std::string &line : lines) {
        std::puts(printable(line).c_str());
    }
}

void complain(const std::vector<std::string> &sentences) {
    for (const std::string &sentence : sentences) {
        std::fprintf(stderr, "cdctl: %s\n", printable(sentence).c_str());
    }
}

// ---- All sets

// Adds the sets of which no scheme file was found where others say that there are more.
void add_missing_sets(std::vector<SetBelow> &sets) {
    constexpr int most = 256; // a damaged number of sets must not make many
    struct Job {
        const SetBelow *first = nullptr;
        std::set<int> groups;
    };
    std::map<std::tuple<std::optional<Checkpoint>, int, int>, Job> jobs;
    for (const SetBelow &each : sets) {
        const cd::redset::Set &set = each.found.set;
        Job &job = jobs[{each.checkpoint, set.groups, set.job_ranks}];
        job.first = job.first == nullptr ? &each : job.first;
        job.groups.insert(set.group);
    }
    std::vector<SetBelow> missing;
    for (const auto &[key, job] : jobs) {
        const cd::redset::Set &first = job.first->found.set;
        for (int group = 0; group < std::min(first.groups, most); ++group) {
            if (!job.groups.contains(group)) {
                SetBelow &set = missing.emplace_back();
                set.found.set.group = group;
                set.found.set.groups = first.groups;
                set.found.problem = "not found, and what its ranks had is lost";
                set.checkpoint = job.first->checkpoint;
                set.directory = job.first->directory;
            }
        }
    }
    std::ranges::move(missing, std::back_inserter(sets));
}

// Finds the sets below the directories given, the newest checkpoints first.
bool find_all(const Arguments &arguments, std::vector<SetBelow> &sets,
              std::vector<std::string> &unusable) {
    const auto names_checkpoint = [](std::string_view name) {
        return cd::checkpoint::point_of(name).has_value();
    };
    cd::redset::Search search;
    if (!find_sets(arguments.paths, names_checkpoint, search)) {
        unusable.emplace_back(cd::without_repeating(cd::message()));
        return false;
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
    return !sets.empty();
}

// Gathers the whole sets of checkpoints, and commits those that have no usable records.
class Commits {
public:
    void add(const SetBelow &set, const Result &result, const Arguments &arguments) {
        if (!set.checkpoint || arguments.dry_run || !result.is_whole()) {
            return;
        }
        whole_[*set.checkpoint].push_back({&set.found, result.offline.places});
        if (result.standing == Standing::damaged || (result.is_unrecorded() && arguments.agree)) {
            wanted_.insert(*set.checkpoint);
        }
    }
    bool are_wanted(const std::optional<Checkpoint> &checkpoint) const {
        return checkpoint && wanted_.contains(*checkpoint);
    }

    Outcome write(std::set<Checkpoint> &committed) const {
        Outcome outcome = Outcome::good;
        for (const Checkpoint &checkpoint : wanted_) {
            if (commit_checkpoint(whole_.at(checkpoint))) {
                committed.insert(checkpoint);
            } else {
                complain({cd::message()});
                outcome = Outcome::unreadable;
            }
        }
        return outcome;
    }

private:
    std::map<Checkpoint, std::vector<WholeSet>> whole_;
    std::set<Checkpoint> wanted_;
};

} // namespace

Outcome rebuild(const Arguments &arguments) {
    std::vector<SetBelow> sets;
    std::vector<std::string> unusable;
    const bool any = find_all(arguments, sets, unusable);
    complain(unusable);
    const Checkpoints known(arguments.paths);
    Starts starts;
    Commits commits;
    std::vector<Judged> judged;
    for (size_t i = 0; i < sets.size(); ++i) {
        ProgressLine line(i, sets.size());
        judged.push_back(
            {&sets[i], rebuild_set(sets[i], known, arguments, [&line](uint64_t done, uint64_t all) {
                 line.show(done, all);
             })});
        starts.add(sets[i], judged.back().result, arguments);
        commits.add(sets[i], judged.back().result, arguments);
    }
    Outcome outcome = any ? Outcome::good : Outcome::unreadable;
    for (auto &[set, result] : judged) {
        starts.judge(set->checkpoint, result);
        outcome = std::max(outcome, outcome_of(result, commits.are_wanted(set->checkpoint) ||
                                                           known.has_committed(set->checkpoint)));
        if (!arguments.json) {
            print(*set, result);
        }
    }
    std::set<Checkpoint> committed;
    outcome = std::max(outcome, commits.write(committed));
    arguments.json ? print_json(arguments, judged, unusable, committed) : print_starts(judged);
    return outcome;
}

} // namespace cdctl
