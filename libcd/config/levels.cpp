// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/levels.h"

#include "base/quoted.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

namespace cd {
namespace {

struct Word {
    std::string key;
    std::string value;
};

struct Line {
    const char *file;
    int number;
    std::vector<Word> words;
};

[[gnu::format(printf, 2, 3)]] Status refuse(const Line &line, const char *format, ...) {
    char reason[500];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return fail(CD_ERROR_STORAGE_VALUE, "%s:%d: %s", line.file, line.number, reason);
}

constexpr std::string_view blanks = " \t\r";

Status split(std::string_view text, Line &line) {
    while (true) {
        const size_t begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos || text[begin] == '#') {
            return Status::ok();
        }
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find_first_of(blanks));
        text.remove_prefix(word.size());
        const size_t equals = word.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
            return refuse(line, "\"%.*s\" is not KEY=VALUE", quoted(word), word.data());
        }
        line.words.push_back(
            {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    }
}

Status take_number(const Line &line, const Word &word, uint64_t least, uint64_t most,
                   uint64_t &number) {
    const std::string &text = word.value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
        return refuse(line, "%s=%.100s is not a number from %llu to %llu", word.key.c_str(),
                      text.c_str(), static_cast<unsigned long long>(least),
                      static_cast<unsigned long long>(most));
    }
    return Status::ok();
}

std::optional<Scheme> scheme_of(const std::string &name) {
    constexpr std::pair<const char *, Scheme> schemes[] = {{"SINGLE", Scheme::single},
                                                           {"PARTNER", Scheme::partner},
                                                           {"XOR", Scheme::xor_set},
                                                           {"RS", Scheme::reed_solomon}};
    const auto *const found = std::ranges::find_if(
        schemes, [&](const auto &each) { return strcasecmp(each.first, name.c_str()) == 0; });
    return found == std::end(schemes) ? std::nullopt : std::optional(found->second);
}

constexpr uint64_t largest_interval = 1'000'000'000;

// A line that begins with CKPT.
class Descriptor {
public:
    explicit Descriptor(const Line &line) : line_(line) {}

    Status read() {
        std::set<std::string> given;
        for (const Word &word : line_.words) {
            if (!given.insert(word.key).second) {
                return refuse(line_, "%.100s is given twice", word.key.c_str());
            }
            if (Status status = take(word); !status) {
                return status;
            }
        }
        if (!given.contains("INDEX")) {
            level.index = static_cast<int>(checkpoint);
        }
        return finish(given);
    }

    Level level;
    uint64_t checkpoint = 0;
    bool enabled = true;

private:
    Status take(const Word &word) {
        uint64_t number = 0;
        const auto numbered = [&](uint64_t least, uint64_t most, auto &into) {
            Status status = take_number(line_, word, least, most, number);
            into = static_cast<std::remove_reference_t<decltype(into)>>(number);
            return status;
        };
        if (word.key == "CKPT") {
            return numbered(0, 9999, checkpoint);
        }
        if (word.key == "ENABLED") {
            return numbered(0, 1, enabled);
        }
        if (word.key == "INDEX") {
            return numbered(0, 9999, level.index);
        }
        if (word.key == "INTERVAL") {
            return numbered(1, largest_interval, level.interval);
        }
        if (word.key == "SET_SIZE") {
            return numbered(2, 65535, level.set_size);
        }
        if (word.key == "CKSUM") {
            return numbered(1, 255, checksums_);
        }
        if (word.key == "REPLICAS") {
            return numbered(1, 255, replicas_);
        }
        if (word.key == "GROUP") {
            level.group = word.value;
            return Status::ok();
        }
        if (word.key == "STORE") {
            level.store = word.value;
            return Status::ok();
        }
        if (word.key == "TYPE") {
            const auto scheme = scheme_of(word.value);
            if (!scheme) {
                return refuse(line_, "TYPE=%.100s is none of SINGLE, PARTNER, XOR and RS",
                              word.value.c_str());
            }
            level.redundancy.scheme = *scheme;
            return Status::ok();
        }
        return refuse(line_,
                      "%.100s is none of CKPT, ENABLED, INDEX, INTERVAL, GROUP, STORE, TYPE, "
                      "SET_SIZE, CKSUM and REPLICAS",
                      word.key.c_str());
    }

    Status finish(const std::set<std::string> &given) {
        const Scheme scheme = level.redundancy.scheme;
        if (given.contains("CKSUM") && scheme != Scheme::reed_solomon) {
            return refuse(line_, "CKSUM goes with TYPE=RS only");
        }
        if (given.contains("REPLICAS") && scheme != Scheme::partner) {
            return refuse(line_, "REPLICAS goes with TYPE=PARTNER only");
        }
        level.redundancy.parameter = scheme == Scheme::reed_solomon ? checksums_
                                     : scheme == Scheme::partner    ? replicas_
                                                                    : 0;
        return Status::ok();
    }

    const Line &line_;
    int checksums_ = 2;
    int replicas_ = 1;
};

class Reading {
public:
    explicit Reading(const char *file) : file_(file) {}

    Status line(std::string_view text, int number) {
        Line line{file_, number, {}};
        if (Status status = split(text, line); !status || line.words.empty()) {
            return status;
        }
        const std::string &first = line.words.front().key;
        if (first == "CKPT") {
            return descriptor(line);
        }
        if (first == "GROUPS") {
            return groups(line);
        }
        // What a store is like is the file system's matter; SCR's other settings are SCR's.
        if (first == "STORES" || first == "STORE" || first.starts_with("SCR_")) {
            return Status::ok();
        }
        return refuse(line,
                      "a line begins with CKPT=, STORES=, GROUPS= or SCR_..., and not with %.100s",
                      first.c_str());
    }

    Status finish(Levels &levels) {
        const auto always = [](const Level &level) { return level.interval == 1; };
        if (std::ranges::none_of(result_.levels, always)) {
            return fail(CD_ERROR_STORAGE_VALUE,
                        "%s: no descriptor that is enabled has INTERVAL=1, so that some epochs "
                        "would have none",
                        file_);
        }
        levels = std::move(result_);
        return Status::ok();
    }

private:
    Status descriptor(const Line &line) {
        Descriptor descriptor(line);
        if (Status status = descriptor.read(); !status) {
            return status;
        }
        if (!checkpoints_.insert(descriptor.checkpoint).second ||
            !indexes_.insert(descriptor.level.index).second) {
            return refuse(line, "another line has CKPT=%llu or INDEX=%d already",
                          static_cast<unsigned long long>(descriptor.checkpoint),
                          descriptor.level.index);
        }
        if (!descriptor.enabled) {
            return Status::ok();
        }
        const uint64_t interval = descriptor.level.interval;
        if (std::ranges::find(result_.levels, interval, &Level::interval) != result_.levels.end()) {
            return refuse(line, "another descriptor has INTERVAL=%llu already",
                          static_cast<unsigned long long>(interval));
        }
        result_.levels.push_back(std::move(descriptor.level));
        return Status::ok();
    }

    Status groups(const Line &line) {
        auto &of_host = result_.groups[line.words.front().value];
        for (size_t i = 1; i < line.words.size(); ++i) {
            if (!of_host.emplace(line.words[i].key, line.words[i].value).second) {
                return refuse(line, "host %.100s has two values of %.100s",
                              line.words.front().value.c_str(), line.words[i].key.c_str());
            }
        }
        return Status::ok();
    }

    const char *file_;
    Levels result_;
    std::set<uint64_t> checkpoints_;
    std::set<int> indexes_;
};

} // namespace

Status parse_levels(std::string_view text, const char *file, Levels &levels) {
    Reading reading(file);
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (Status status = reading.line(line, number); !status) {
            return status;
        }
    }
    return reading.finish(levels);
}

} // namespace cd
