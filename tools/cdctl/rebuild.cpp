// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "alone.h"
#include "attempts.h"
#include "command.h"
#include "json.h"
#include "redset/offline.h"
#include "text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace cdctl {
namespace {

using cd::redset::FoundSet;
using cd::redset::MemberState;
using cd::redset::scheme_name;
using cd::redset::Survey;

enum class Verdict { whole, rebuilt, rebuildable, unfinished, failed, lost };

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
    case Verdict::failed:
        return "failed";
    case Verdict::lost:
        break;
    }
    return "lost";
}

Outcome outcome_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::whole:
    case Verdict::rebuilt:
    case Verdict::unfinished: // nobody needs it
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

struct Result {
    Verdict verdict = Verdict::whole;
    std::string problem;     // why not, "" when it went well
    bool unrecorded = false; // no record says that it counted, and it may have
    Survey survey;
};

bool is_whole(const Result &result) {
    return result.verdict == Verdict::whole || result.verdict == Verdict::rebuilt;
}

bool anything_lost(const Survey &survey) {
    return std::any_of(survey.members.begin(), survey.members.end(), [](const MemberState &member) {
        return !member.data_lost.empty() || !member.payload_lost.empty();
    });
}

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

Result rebuild_one(const FoundSet &found, const Attempts &known_attempts,
                   const Arguments &arguments, ProgressLine &line) {
    const bool dry_run = arguments.dry_run;
    Result result;
    Alone alone;
    cd::Status status = alone.with(found, dry_run);
    const Attempts::Standing standing = known_attempts.of(found);
    if (status && standing == Attempts::Standing::unfinished) {
        result.verdict = Verdict::unfinished;
        result.problem = "a program ended while it protected this point in time; no program starts "
                         "from it, and the next one removes it";
        return result;
    }
    if (status) {
        cd::redset::Options options;
        options.progress = [&line](uint64_t done, uint64_t all) { line.tell(done, all); };
        status = rebuild_found(found, options, dry_run, result.survey);
    }
    if (!status) {
        const bool exceeded = status.code() == CD_ERROR_REDUNDANCY_EXCEEDED;
        result.verdict = exceeded ? Verdict::lost : Verdict::failed;
        result.problem = cd::message();
    } else if (anything_lost(result.survey)) {
        result.verdict = dry_run ? Verdict::rebuildable : Verdict::rebuilt;
    }
    result.unrecorded = standing == Attempts::Standing::unrecorded;
    if (result.unrecorded && status && !arguments.agree) {
        result.problem = "no record says that all ranks had this point in time, so that programs "
                         "start from it only after cdctl rebuild --agree";
    } else if (result.unrecorded && result.verdict == Verdict::lost) {
        result.verdict = Verdict::unfinished;
        result.problem = "no record says that all ranks had this point in time, and it cannot be "
                         "brought back: " +
                         result.problem;
    }
    return result;
}

std::string title_of(const FoundSet &found) {
    const auto &[shape, group, groups, job_ranks, ranks] = found.set;
    return "set " + std::to_string(group + 1) + " of " + std::to_string(groups) + " (" +
           scheme_name(shape.scheme) + ", " + std::to_string(shape.members) + " members) of " +
           found.found.front();
}

void print(const FoundSet &found, const Result &result) {
    std::printf("%s: %s%s\n", printable(title_of(found)).c_str(), name_of(result.verdict),
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

void describe(const FoundSet &found, const Result &result, Json &json) {
    const auto &shape = found.set.shape;
    json.begin_object();
    json.member("set", found.set.group).member("sets", found.set.groups);
    json.member("scheme", scheme_name(shape.scheme)).member("members", shape.members);
    json.member("checks", shape.checks).member("verdict", name_of(result.verdict));
    json.member("checksums", result.survey.checksums.has_value());
    json.member("agreed", !result.unrecorded && result.verdict != Verdict::unfinished);
    text_or_null(json, "problem", result.problem);
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

// What nobody says counted is no start, so that nothing is good where nothing else is one.
Outcome outcome_of(const Result &result, bool root_counts) {
    const Outcome outcome = outcome_of(result.verdict);
    if (!result.unrecorded || root_counts) {
        return outcome;
    }
    return std::max(outcome,
                    result.verdict == Verdict::unfinished ? Outcome::damaged : Outcome::older);
}

// Attempts that no record tells of, with those of their sets that are whole now.
using Unrecorded = std::map<std::string, std::vector<const FoundSet *>>;

Outcome agree_on_all(const Unrecorded &unrecorded) {
    Outcome outcome = Outcome::good;
    for (const auto &[attempt, sets] : unrecorded) {
        if (!agree_on(sets)) {
            std::fprintf(stderr, "cdctl: %s\n", printable(cd::message()).c_str());
            outcome = Outcome::unreadable;
        }
    }
    return outcome;
}

} // namespace

Outcome rebuild(const Arguments &arguments) {
    cd::redset::Search search;
    if (!find_sets(arguments.paths, search)) {
        std::fprintf(stderr, "cdctl: %s\n", printable(cd::message()).c_str());
        return Outcome::unreadable;
    }
    for (const std::string &problem : search.unusable) {
        std::fprintf(stderr, "cdctl: %s\n", printable(problem).c_str());
    }
    if (search.sets.empty()) {
        std::fprintf(stderr, "cdctl: no scheme file of a set can be read there\n");
    }
    const Attempts known_attempts(arguments.paths);
    Outcome outcome = search.sets.empty() ? Outcome::unreadable : Outcome::good;
    Unrecorded unrecorded;
    Json json;
    json.begin_object().member("dry_run", arguments.dry_run).key("sets").begin_array();
    for (size_t i = 0; i < search.sets.size(); ++i) {
        const Result result = [&] {
            ProgressLine line(i, search.sets.size());
            return rebuild_one(search.sets[i], known_attempts, arguments, line);
        }();
        const bool agrees =
            arguments.agree && !arguments.dry_run && result.unrecorded && is_whole(result);
        if (agrees) {
            unrecorded[attempt_of(search.sets[i])].push_back(&search.sets[i]);
        }
        outcome = std::max(
            outcome, outcome_of(result, agrees || known_attempts.root_counts(search.sets[i])));
        arguments.json ? describe(search.sets[i], result, json) : print(search.sets[i], result);
    }
    outcome = std::max(outcome, agree_on_all(unrecorded));
    if (arguments.json) {
        json.end_array().key("unusable").begin_array();
        for (const std::string &problem : search.unusable) {
            json.value(problem);
        }
        json.end_array().end_object();
        std::puts(json.text().c_str());
    }
    return outcome;
}

} // namespace cdctl
