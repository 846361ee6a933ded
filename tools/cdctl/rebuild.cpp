// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "attempts.h"
#include "command.h"
#include "json.h"
#include "rebuilt_set.h"
#include "redset/offline.h"
#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace cdctl {
namespace {

using cd::redset::FoundSet;
using cd::redset::scheme_name;

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
           scheme_name(shape.scheme) + ", " + std::to_string(shape.members) + " members) of " +
           found.found.front();
}

std::string title_of(const Attempts::Missing &missing) {
    const auto &set = missing.set.set;
    return "set " + std::to_string(set.group + 1) + " of " + std::to_string(set.groups) + " of " +
           missing.directory;
}

void print(const std::string &title, const FoundSet &found, const Result &result) {
    std::printf("%s: %s%s\n", printable(title).c_str(), name_of(result.verdict),
                result.survey.layout && !result.survey.checksums ? "; there are no checksums" : "");
    if (!result.problem.empty()) {
        std::printf("  %s\n", printable(result.problem).c_str());
    }
    for (size_t member = 0; member < result.survey.members.size(); ++member) {
        const auto &[data, payload] = result.survey.members[member];
        const int rank = found.set.ranks[member];
        if (!data.empty()) {
            std::printf("  rank %d: files lost: %s\n", rank, printable(data).c_str());
        }
        if (!payload.empty()) {
            std::printf("  rank %d: scheme file lost: %s\n", rank, printable(payload).c_str());
        }
    }
}

void text_or_null(Json &json, std::string_view key, const std::string &text) {
    json.key(key);
    text.empty() ? json.null() : json.value(text);
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
    json.key("newer_epoch");
    result.newer ? json.value(*result.newer) : json.null();
    json.key("scheme_files").begin_array();
    for (const std::string &path : found.found) {
        json.value(path);
    }
    json.end_array().key("ranks").begin_array();
    for (size_t member = 0; member < result.survey.members.size(); ++member) {
        const auto &[data, payload] = result.survey.members[member];
        json.begin_object().member("rank", found.set.ranks[member]);
        json.member("directory", found.places[member].folder);
        text_or_null(json, "files_lost", data);
        text_or_null(json, "scheme_file_lost", payload);
        json.end_object();
    }
    json.end_array().end_object();
}

// What people or programs read, and how it ends. People read of each set when it is done; what
// programs read says what became of all.
class Report {
public:
    explicit Report(const Arguments &arguments) : arguments_(arguments) {}

    void add(const std::string &title, const FoundSet &found, const Result &result) {
        arguments_.json ? kept_.push_back({found, result}) : print(title, found, result);
    }

    void end(const cd::redset::Search &search, const std::vector<std::string> &different_runs,
             const std::set<Attempt> &recorded) {
        if (!arguments_.json) {
            return;
        }
        Json json;
        json.begin_object().member("dry_run", arguments_.dry_run).key("sets").begin_array();
        for (const auto &[found, result] : kept_) {
            const auto attempt = found.found.empty() ? std::nullopt : attempt_of(found);
            describe(found, result, attempt && recorded.contains(*attempt), json);
        }
        json.end_array();
        tell(search.unusable, "unusable", json);
        tell(different_runs, "different_runs", json);
        json.end_object();
        std::puts(json.text().c_str());
    }

private:
    static void tell(const std::vector<std::string> &sentences, std::string_view key, Json &json) {
        json.key(key).begin_array();
        for (const std::string &sentence : sentences) {
            json.value(sentence);
        }
        json.end_array();
    }

    const Arguments &arguments_;
    std::vector<std::pair<FoundSet, Result>> kept_;
};

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

} // namespace

Outcome rebuild(const Arguments &arguments) {
    cd::redset::Search search;
    const auto names_an_attempt = [](std::string_view name) {
        return cd::protection::point_of(name).has_value();
    };
    if (!find_sets(arguments.paths, names_an_attempt, search)) {
        const std::string why(cd::without_repeating(cd::message()));
        std::fprintf(stderr, "cdctl: %s\n", printable(why).c_str());
        search.unusable.push_back(why);
        Report(arguments).end(search, {}, {});
        return Outcome::unreadable;
    }
    for (const std::string &problem : search.unusable) {
        std::fprintf(stderr, "cdctl: %s\n", printable(problem).c_str());
    }
    if (search.sets.empty()) {
        std::fprintf(stderr, "cdctl: no scheme file of a set can be read there\n");
    }
    const Attempts known(arguments.paths);
    const std::vector<std::string> different_runs = known.different_runs();
    for (const std::string &sentence : different_runs) {
        std::fprintf(stderr, "cdctl: %s\n", printable(sentence).c_str());
    }
    Outcome outcome = search.sets.empty() ? Outcome::unreadable : Outcome::good;
    // The newest first, as others may not be needed then.
    std::ranges::stable_sort(search.sets, std::greater<>(), attempt_of);
    Records records;
    Starts starts(known);
    Report report(arguments);
    for (size_t i = 0; i < search.sets.size(); ++i) {
        FoundSet &found = search.sets[i];
        const auto attempt = attempt_of(found);
        Result result = [&] {
            ProgressLine line(i, search.sets.size());
            return rebuild_set(found, known, arguments,
                               [&line](uint64_t done, uint64_t all) { line.tell(done, all); });
        }();
        starts.note(found, result, arguments);
        starts.judge(attempt, result);
        const bool agrees = records.note(found, result, arguments);
        outcome = std::max(outcome, outcome_of(result, agrees || known.root_counts(attempt)));
        report.add(title_of(found), found, result);
    }
    for (const Attempts::Missing &missing : known.missing(search.sets)) {
        Result result = missing_set(missing, arguments);
        starts.judge(missing.attempt, result);
        outcome = std::max(outcome, outcome_of(result, known.root_counts(missing.attempt)));
        report.add(title_of(missing), missing.set, result);
    }
    std::set<Attempt> recorded;
    outcome = std::max(outcome, records.write(recorded));
    report.end(search, different_runs, recorded);
    return outcome;
}

} // namespace cdctl
