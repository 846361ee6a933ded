// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "shrinker.h"

#include "executor.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace model {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned hang_seconds = 20;

std::string read_all(int descriptor) {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(descriptor, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<size_t>(got));
    }
    return text;
}

// Runs in the child process; ends it.
[[noreturn]] void report_and_exit(const std::vector<Step> &program, int descriptor) {
    alarm(hang_seconds);
    std::string text;
    if (const auto mismatch = execute(program)) {
        text = "step " + std::to_string(mismatch->step) + ": " + mismatch->what;
    }
    const ssize_t written = write(descriptor, text.data(), text.size());
    _exit(text.empty() && written == 0 ? 0 : 1);
}

// What a failure has in common with the failures of shorter programs: the code that a call wrongly
// ended with, else the first words.
std::string kind_of(const std::string &failure) {
    static const std::string marker = "ended with ";
    constexpr size_t words = 20;
    const size_t begin = std::min(failure.find(": "), failure.size());
    const size_t code = failure.find(marker, begin);
    if (code != std::string::npos) {
        return failure.substr(code, failure.find(' ', code + marker.size()) - code);
    }
    std::string kind;
    for (const char c : failure.substr(begin)) {
        if (c < '0' || c > '9') {
            kind += c;
        }
    }
    return kind.substr(0, words);
}

// Leaves out runs of steps, long ones first.
class Shrinker {
public:
    Shrinker(std::vector<Step> program, int seconds)
        : program_(std::move(program)), kind_(kind_of(failure_of(program_))),
          deadline_(Clock::now() + std::chrono::seconds(seconds)) {}

    std::vector<Step> run() {
        for (size_t run = program_.size() / 2; run >= 1; run /= 2) {
            while (drop_runs(run) && run == 1) {
            }
        }
        drop_elements();
        return program_;
    }

private:
    bool out_of_time() const { return Clock::now() >= deadline_; }

    bool accept(std::vector<Step> candidate) {
        if (out_of_time() || kind_of(failure_of(candidate)) != kind_) {
            return false;
        }
        program_ = std::move(candidate);
        return true;
    }

    // From the end, where steps depend on fewer others. True if anything went.
    bool drop_runs(size_t run) {
        bool dropped = false;
        for (size_t end = program_.size(); end > 0 && !out_of_time();) {
            const size_t begin = end > run ? end - run : 0;
            std::vector<Step> candidate = program_;
            candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(begin),
                            candidate.begin() + static_cast<std::ptrdiff_t>(end));
            dropped = accept(std::move(candidate)) || dropped;
            end = begin;
        }
        return dropped;
    }

    void drop_elements() {
        for (size_t i = 0; i < program_.size(); ++i) {
            for (size_t j = program_[i].list.size(); j-- > 0 && !out_of_time();) {
                std::vector<Step> candidate = program_;
                Step &step = candidate[i];
                step.list.erase(step.list.begin() + static_cast<std::ptrdiff_t>(j));
                step.count = std::min(step.count, static_cast<int>(step.list.size()));
                accept(std::move(candidate));
            }
        }
    }

    std::vector<Step> program_;
    std::string kind_;
    Clock::time_point deadline_;
};

} // namespace

std::string failure_of(const std::vector<Step> &program) {
    int ends[2];
    if (pipe(ends) != 0) {
        return "";
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        report_and_exit(program, ends[1]);
    }
    close(ends[1]);
    std::string text = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        text += std::string("killed by signal: ") + strsignal(WTERMSIG(status));
    } else if (text.empty() && WEXITSTATUS(status) != 0) {
        text = "exit status " + std::to_string(WEXITSTATUS(status));
    }
    return text;
}

std::vector<Step> shrink(std::vector<Step> program, int seconds) {
    return Shrinker(std::move(program), seconds).run();
}

} // namespace model
