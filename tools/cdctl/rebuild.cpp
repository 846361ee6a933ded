// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "attempts.h"
#include "base/counted.h"
#include "command.h"
#include "json.h"
#include "left_alone.h"
#include "missing_sets.h"
#include "rebuilt_set.h"
#include "redset/offline.h"
#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cdctl {
namespace {

using cd::redset::FoundSet;
using cd::redset::MemberState;
using cd::redset::scheme_name;
using cd::redset::Search;

// A line on a terminal that is written over, and gone at its end; nothing elsewhere.
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

    void tell(uint64_t done, uint64_t all) {
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

std::string title_of(const FoundSet &found) {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    return "set " + std::to_string(group + 1) + " of " + std::to_string(groups) + " (" +
           scheme_name(shape.scheme) + ", " + cd::counted(shape.members, "member") + ") of " +
           found.found.front();
}

std::string title_of(const Attempts::Missing &missing) {
    const auto &set = missing.set.set;
    return "set " + std::to_string(set.group + 1) + " of " + std::to_string(set.groups) + " of " +
           missing.directory;
}

// What is lost of a member, and why.
std::vector<std::pair<const char *, std::string>> losses(const MemberState &state) {
    std::vector<std::pair<const char *, std::string>> all{{"files", state.data_lost},
                                                          {"scheme file", state.payload_lost},
                                                          {"descriptor", state.descriptor_lost},
                                                          {"checksums", state.checksums_lost}};
    std::erase_if(all, [](const auto &each) { return each.second.empty(); });
    return all;
}

void print(const std::string &title, const FoundSet &found, const Result &result) {
    std::printf("%s: %s%s\n", printable(title).c_str(), name_of(result.verdict),
                result.survey.layout && !result.survey.checksums ? "; there are no checksums" : "");
    if (!result.problem.empty()) {
        std::printf("  %s\n", printable(result.problem).c_str());
    }
    for (size_t member = 0; member < result.survey.members.size(); ++member) {
        for (const auto &[what, why] : losses(result.survey.members[member])) {
            std::printf("  rank %d: %s lost: %s\n", found.set.ranks[member], what,
                        printable(why).c_str());
        }
    }
    for (const auto &[member, folder, state] : found.passed_over) {
        for (const auto &[what, why] : losses(state)) {
            std::printf("  rank %d: a copy in %s was passed over, its %s lost: %s\n",
                        found.set.ranks[static_cast<size_t>(member)], printable(folder).c_str(),
                        what, printable(why).c_str());
        }
    }
}

void text_or_null(Json &json, std::string_view key, const std::string &text) {
    json.key(key);
    text.empty() ? json.null() : json.value(text);
}

void describe_losses(const MemberState &state, Json &json) {
    text_or_null(json, "files_lost", state.data_lost);
    text_or_null(json, "scheme_file_lost", state.payload_lost);
    text_or_null(json, "descriptor_lost", state.descriptor_lost);
    text_or_null(json, "checksums_lost", state.checksums_lost);
}

void epoch_or_null(Json &json, std::string_view key, std::optional<uint64_t> epoch) {
    json.key(key);
    epoch ? json.value(*epoch) : json.null();
}

// What its scheme files tell of a set.
void describe_shape(const FoundSet &found, Json &json) {
    if (found.found.empty()) {
        json.key("scheme").null().key("members").null().key("checks").null();
        return;
    }
    const auto &shape = found.set.shape;
    json.member("scheme", scheme_name(shape.scheme)).member("members", shape.members);
    json.member("checks", shape.checks);
}

// recorded: its records have been written now.
void describe(const FoundSet &found, const Result &result, bool recorded, Json &json) {
    json.begin_object();
    json.member("set", found.set.group).member("sets", found.set.groups);
    describe_shape(found, json);
    json.member("verdict", name_of(result.verdict));
    json.member("checksums", result.survey.checksums.has_value());
    json.member("agreed",
                recorded || (!result.is_unrecorded() && result.verdict != Verdict::unfinished));
    text_or_null(json, "problem", result.problem);
    epoch_or_null(json, "start_epoch", result.start);
    epoch_or_null(json, "newer_epoch",
                  result.instead == Instead::newer ? result.start : std::nullopt);
    json.key("scheme_files").begin_array();
    for (const std::string &path : found.none_is_left ? std::vector<std::string>() : found.found) {
        json.value(path);
    }
    json.end_array().key("ranks").begin_array();
    for (size_t member = 0; member < result.survey.members.size(); ++member) {
        json.begin_object().member("rank", found.set.ranks[member]);
        json.member("directory", found.places[member].folder);
        describe_losses(result.survey.members[member], json);
        json.key("damaged_copies").begin_array();
        for (const auto &[of, folder, state] : found.passed_over) {
            if (std::cmp_equal(of, member)) {
                json.begin_object().member("directory", folder);
                describe_losses(state, json);
                json.end_object();
            }
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
}

// A set that was looked at, or is missing.
struct Judged {
    std::string title;
    const FoundSet *found;
    std::optional<Attempt> attempt;
    bool root_counts; // whether programs start from anything of its root
    Result result;
};

void tell(const std::vector<std::string> &sentences, std::string_view key, Json &json) {
    json.key(key).begin_array();
    for (const std::string &sentence : sentences) {
        json.value(sentence);
    }
    json.end_array();
}

void print_json(const Arguments &arguments, const std::vector<Judged> &sets,
                const std::vector<std::string> &unusable,
                const std::vector<std::string> &different_runs,
                const std::vector<std::string> &missing, const std::set<Attempt> &recorded) {
    Json json;
    json.begin_object().member("dry_run", arguments.dry_run).key("sets").begin_array();
    for (const Judged &each : sets) {
        const bool is_found = !each.found->found.empty();
        describe(*each.found, each.result,
                 is_found && each.attempt && recorded.contains(*each.attempt), json);
    }
    json.end_array();
    tell(unusable, "unusable", json);
    tell(different_runs, "different_runs", json);
    tell(missing, "missing_sets", json);
    json.end_object();
    std::puts(json.text().c_str());
}

// People have read of the sets already, but not what older ones mean for those that are lost.
void print_starts(const std::vector<Judged> &sets) {
    std::set<std::string> lines;
    for (const Judged &each : sets) {
        if (each.result.verdict == Verdict::lost && each.result.instead == Instead::older) {
            lines.insert("root " + each.attempt->root + ": programs start from epoch " +
                         std::to_string(*each.result.start) + ", as what is newer is lost");
        }
    }
    for (const std::string &line : lines) {
        std::puts(printable(line).c_str());
    }
}

Result nothing_to_build_on() {
    Result result;
    result.verdict = Verdict::failed;
    result.problem = "another set that was to bring back files before has not, so that nothing of "
                     "this set was brought back";
    return result;
}

// What is whole now, by attempt, and which of these get records.
struct Records {
    std::map<Attempt, std::vector<const FoundSet *>> whole;
    std::set<Attempt> wanted;

    // Whether it gets one now.
    bool note(const FoundSet &found, const Result &result, const Arguments &arguments) {
        const auto attempt = attempt_of(found);
        if (!attempt || arguments.dry_run || !result.is_whole()) {
            return false;
        }
        whole[*attempt].push_back(&found);
        const bool wants = result.standing == Attempts::Standing::damaged ||
                           (result.is_unrecorded() && arguments.agree);
        if (wants) {
            wanted.insert(*attempt);
        }
        return wants;
    }

    // written: the attempts that have got theirs.
    Outcome write(std::set<Attempt> &written) const {
        Outcome outcome = Outcome::good;
        for (const Attempt &attempt : wanted) {
            if (agree_on(whole.at(attempt))) {
                written.insert(attempt);
            } else {
                std::fprintf(stderr, "cdctl: %s\n", printable(cd::message()).c_str());
                outcome = Outcome::unreadable;
            }
        }
        return outcome;
    }
};

void complain(const std::vector<std::string> &sentences) {
    for (const std::string &sentence : sentences) {
        std::fprintf(stderr, "cdctl: %s\n", printable(sentence).c_str());
    }
}

// Says so where a directory cannot be read.
bool search_all(const Arguments &arguments, Search &search) {
    const auto names_an_attempt = [](std::string_view name) {
        return cd::checkpoint::point_of(name).has_value();
    };
    if (find_sets(arguments.paths, names_an_attempt, search, cd::checkpoint::image_name)) {
        return true;
    }
    search.unusable.emplace_back(cd::without_repeating(cd::message()));
    complain(search.unusable);
    if (arguments.json) {
        print_json(arguments, {}, search.unusable, {}, {}, {});
    }
    return false;
}

// One set after the other. People read of each when it has had its turn.
class Rebuilding {
public:
    // All of it outlives this. Nothing is written yet.
    Rebuilding(const Arguments &arguments, Search &search, const Attempts &known)
        : arguments_(arguments), search_(search), known_(known),
          left_alone_(search, known, arguments), starts_(known) {}

    // Those of which nothing is left come last.
    void rebuild_all() {
        const std::vector<FoundSet *> sets = in_turn();
        for (size_t i = 0; i < sets.size(); ++i) {
            FoundSet &found = *sets[i];
            const auto attempt = attempt_of(found);
            const Result result = rebuild_one(found, i);
            are_upstreams_good_ =
                are_upstreams_good_ && (!left_alone_.may_be_built_on(found) || result.is_whole());
            starts_.note(found, result, arguments_);
            const bool agrees = records_.note(found, result, arguments_);
            add({title_of(found), &found, attempt, agrees || known_.root_counts(attempt), result});
        }
        missing_ = known_.missing(search_.sets);
        for (const Attempts::Missing &missing : missing_) {
            add({title_of(missing), &missing.set, missing.attempt,
                 known_.root_counts(missing.attempt), missing_set(missing, arguments_)});
        }
    }

    // Of all sets, now that what programs start from is known.
    Outcome judge() {
        Outcome outcome = search_.sets.empty() ? Outcome::unreadable : Outcome::good;
        for (Judged &each : judged_) {
            starts_.judge(each.attempt, each.result);
            outcome = std::max(outcome, outcome_of(each.result, each.root_counts));
        }
        return outcome;
    }

    const std::vector<Judged> &judged() const { return judged_; }
    const Records &records() const { return records_; }

private:
    std::vector<FoundSet *> in_turn() {
        std::vector<FoundSet *> sets;
        std::ranges::transform(search_.sets, std::back_inserter(sets),
                               [](FoundSet &found) { return &found; });
        std::stable_partition(sets.begin(), sets.end(), [this](const FoundSet *found) {
            return !left_alone_.builds_on_others(*found);
        });
        return sets;
    }

    Result rebuild_one(FoundSet &found, size_t turn) const {
        if (const Result *left = left_alone_.result_of(found)) {
            return *left;
        }
        if (left_alone_.builds_on_others(found) && !are_upstreams_good_) {
            return nothing_to_build_on();
        }
        ProgressLine line(turn, search_.sets.size());
        return rebuild_set(found, known_, arguments_,
                           [&line](uint64_t done, uint64_t all) { line.tell(done, all); });
    }

    void add(const Judged &each) {
        judged_.push_back(each);
        if (!arguments_.json) {
            Result so_far = each.result;
            starts_.judge(each.attempt, so_far);
            print(each.title, *each.found, so_far);
        }
    }

    const Arguments &arguments_;
    Search &search_;
    const Attempts &known_;
    const LeftAlone left_alone_;
    Starts starts_;
    Records records_;
    std::vector<Judged> judged_;
    std::vector<Attempts::Missing> missing_; // judged_ points to these
    bool are_upstreams_good_ = true;         // of those that others build on
};

} // namespace

Outcome rebuild(const Arguments &arguments) {
    Search search;
    if (!search_all(arguments, search)) {
        return Outcome::unreadable;
    }
    const Attempts known(arguments.paths);
    std::ranges::move(known.with_images_only(search.sets), std::back_inserter(search.sets));
    if (search.sets.empty()) {
        search.unusable.emplace_back("no scheme file of a set can be read there");
    }
    complain(search.unusable);
    // The newest first, as others may not be needed then.
    std::ranges::stable_sort(search.sets, std::greater<>(), attempt_of);
    Rebuilding rebuilding(arguments, search, known);
    const std::vector<std::string> different_runs = known.different_runs();
    const std::vector<std::string> not_found =
        arguments.partial ? std::vector<std::string>() : missing_sets(search.sets);
    complain(different_runs);
    complain(not_found);
    rebuilding.rebuild_all();
    Outcome outcome = rebuilding.judge();
    // Who needs one of these sets needs all, and what is given is to be used. Where nothing else
    // is there it is not known to be damage.
    if (!not_found.empty() || (!search.unusable_alone.empty() && !search.sets.empty())) {
        outcome = Outcome::damaged;
    }
    std::set<Attempt> recorded;
    outcome = std::max(outcome, rebuilding.records().write(recorded));
    arguments.json ? print_json(arguments, rebuilding.judged(), search.unusable, different_runs,
                                not_found, recorded)
                   : print_starts(rebuilding.judged());
    return outcome;
}

} // namespace cdctl
