// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "command.h"
#include "describe.h"
#include "path_args.h"
#include "text.h"
#include "verification.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cdctl {
namespace {

// A line on a terminal that is written over; nothing elsewhere.
class Progress {
public:
    explicit Progress(std::string path) : path_(std::move(path)) {}
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    ~Progress() {
        if (shown_ != 0) {
            std::fputs("\r\033[K", stderr);
        }
    }

    void show(uint64_t done, uint64_t all) {
        if (wanted_ && done - shown_ >= step) {
            shown_ = done;
            std::fprintf(stderr, "\r%s: %s of %s\033[K", printable(path_).c_str(),
                         size_text(done).c_str(), size_text(all).c_str());
        }
    }

private:
    static constexpr uint64_t step = uint64_t{64} << 20;

    std::string path_;
    bool wanted_ = ::isatty(STDERR_FILENO) == 1;
    uint64_t shown_ = 0;
};

std::string epochs_text(const std::vector<uint64_t> &epochs) {
    std::string text;
    for (const uint64_t epoch : epochs) {
        text += (text.empty() ? "" : ", ") + std::to_string(epoch);
    }
    return text;
}

// Of metadata and data, while a condition is that of the metadata.
const char *verdict_text(Outcome outcome) {
    return outcome == Outcome::good      ? "good"
           : outcome == Outcome::older   ? "older"
           : outcome == Outcome::renamed ? "renamed"
           : outcome == Outcome::damaged ? "damaged"
                                         : "unreadable";
}

void print(const Inspection &store, const Verification &found, Outcome outcome) {
    std::string line = printable(store.path()) + ": " +
                       (outcome == Outcome::damaged   ? "DAMAGED"
                        : outcome == Outcome::renamed ? "RENAMED"
                                                      : verdict_text(outcome)) +
                       use_text(store);
    if (store.has_state() && found.problem.empty()) {
        line += "; epoch " + epochs_text(found.good_epochs) +
                (found.good_epochs.empty() ? "none" : "") + " whole";
        line += found.bad_epochs.empty() ? "" : ", " + epochs_text(found.bad_epochs) + " damaged";
        line += "; data of " + size_text(found.checked) + " checked";
        line += found.unchecked == 0 ? "" : ", " + size_text(found.unchecked) + " has no checksums";
    }
    std::puts(line.c_str());
    for (const std::string &problem : {store.problem(), found.problem}) {
        if (!problem.empty()) {
            std::puts(("  " + printable(problem)).c_str());
        }
    }
    for (const Verification::BadData &bad : found.bad) {
        std::puts(("  " + printable(bad.reason)).c_str());
        for (const std::string &what : bad.holds) {
            std::puts(("    " + printable(what)).c_str());
        }
    }
}

void describe(const Inspection &store, const Verification &found, Outcome outcome, Json &json) {
    json.begin_object();
    describe_file(store, json);
    json.member("verdict", verdict_text(outcome)).member("exit_status", exit_status(outcome));
    if (store.has_state()) {
        describe_summary(store, json);
        const auto epochs = [&](const char *name, const std::vector<uint64_t> &which) {
            json.key(name).begin_array();
            for (const uint64_t epoch : which) {
                json.value(epoch);
            }
            json.end_array();
        };
        epochs("good_epochs", found.good_epochs);
        epochs("damaged_epochs", found.bad_epochs);
        json.member("checked_bytes", found.checked).member("unchecked_bytes", found.unchecked);
        json.key("not_verified");
        found.problem.empty() ? json.null() : json.value(found.problem);
        json.key("damaged_data").begin_array();
        for (const Verification::BadData &bad : found.bad) {
            json.begin_object().member("offset", bad.offset).member("bytes", bad.length);
            json.member("reason", bad.reason).key("holds").begin_array();
            for (const std::string &what : bad.holds) {
                json.value(what);
            }
            json.end_array().end_object();
        }
        json.end_array();
    }
    json.end_object();
}

} // namespace

Outcome verify(const Arguments &arguments) {
    Json json;
    json.begin_object().key("stores").begin_array();
    const Outcome outcome = Places(arguments.paths).visit([&](Inspection &store) {
        Verification found;
        if (store.has_state()) {
            Progress progress(store.path());
            found =
                verify_data(store, [&](uint64_t done, uint64_t all) { progress.show(done, all); });
        }
        const Outcome both = std::max(store.outcome(), found.outcome);
        arguments.json ? describe(store, found, both, json) : print(store, found, both);
        return both;
    });
    if (arguments.json) {
        json.end_array().end_object();
        std::puts(json.text().c_str());
    }
    return outcome;
}

} // namespace cdctl
