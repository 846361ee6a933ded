// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/level_lines.h"

#include <strings.h>

#include <algorithm>
#include <utility>

namespace cd {
namespace {

constexpr uint64_t largest_interval = 1'000'000'000;

std::optional<Scheme> scheme_of(const std::string &name) {
    constexpr std::pair<const char *, Scheme> schemes[] = {{"SINGLE", Scheme::single},
                                                           {"PARTNER", Scheme::partner},
                                                           {"XOR", Scheme::xor_set},
                                                           {"RS", Scheme::reed_solomon}};
    const auto *const found = std::ranges::find_if(
        schemes, [&](const auto &each) { return strcasecmp(each.first, name.c_str()) == 0; });
    return found == std::end(schemes) ? std::nullopt : std::optional(found->second);
}

} // namespace

std::string directory_of(std::string_view text) {
    std::string directory = text.starts_with('/') ? "/" : "";
    while (!text.empty()) {
        const std::string_view name = text.substr(0, text.find('/'));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
        if (!name.empty() && name != ".") {
            directory += directory.empty() || directory.ends_with('/') ? "" : "/";
            directory += name;
        }
    }
    return directory.empty() ? "." : directory;
}

// ---- Descriptors

Status LevelLine::read() {
    Status status = each_word(line_, given_, [this](const ConfigWord &word) { return take(word); });
    if (!given_.contains("INDEX")) {
        level.index = static_cast<int>(checkpoint);
    }
    return status ? check_keys() : status;
}

Status LevelLine::take(const ConfigWord &word) {
    const auto numbered = [&](uint64_t least, uint64_t most, auto &into) {
        return take_number(line_, word, least, most, into);
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
        return numbered(smallest_set, largest_set, level.set_size);
    }
    if (word.key == "CKSUM" || word.key == "SET_FAILURES") {
        return numbered(1, most_checksums, checksums_);
    }
    if (word.key == "REPLICAS") {
        return numbered(1, 255, replicas_);
    }
    if (word.key == "BYPASS") {
        return numbered(0, 1, bypass_);
    }
    if (word.key == "OUTPUT") { // there is none
        bool ignored = false;
        return numbered(0, 1, ignored);
    }
    if (word.key == "GROUP") {
        level.group = upper_case(word.value);
        return Status::ok();
    }
    if (word.key == "STORE") {
        level.store = directory_of(word.value);
        return Status::ok();
    }
    if (word.key == "TYPE") {
        return take_type(word);
    }
    return line_.refuse("%.100s is none of CKPT, ENABLED, INDEX, INTERVAL, GROUP, STORE, TYPE, "
                        "SET_SIZE, CKSUM, SET_FAILURES, REPLICAS, BYPASS and OUTPUT",
                        word.key.c_str());
}

Status LevelLine::take_type(const ConfigWord &word) {
    const auto scheme = scheme_of(word.value);
    if (!scheme) {
        return line_.refuse("TYPE=%.100s is none of SINGLE, PARTNER, XOR and RS",
                            word.value.c_str());
    }
    level.redundancy.scheme = *scheme;
    return Status::ok();
}

Status LevelLine::check_keys() const {
    const Scheme scheme = level.redundancy.scheme;
    for (const char *key : {"CKSUM", "SET_FAILURES"}) {
        if (given_.contains(key) && scheme != Scheme::reed_solomon) {
            return line_.refuse("%s goes with TYPE=RS only", key);
        }
    }
    if (given_.contains("CKSUM") && given_.contains("SET_FAILURES")) {
        return line_.refuse("CKSUM and SET_FAILURES are two names of one; give one");
    }
    if (given_.contains("REPLICAS") && scheme != Scheme::partner) {
        return line_.refuse("REPLICAS goes with TYPE=PARTNER only");
    }
    return Status::ok();
}

Status LevelLine::complete(const LevelDefaults &defaults) {
    const Scheme scheme = level.redundancy.scheme;
    level.redundancy.parameter = scheme == Scheme::reed_solomon
                                     ? checksums_.value_or(defaults.checksums)
                                 : scheme == Scheme::partner ? replicas_
                                                             : 0;
    level.group = given_.contains("GROUP") ? level.group : defaults.group;
    level.store = given_.contains("STORE") ? level.store : defaults.store;
    level.set_size = given_.contains("SET_SIZE") ? level.set_size : defaults.set_size;
    return !bypass_.value_or(defaults.bypass)
               ? Status::ok()
               : line_.refuse("BYPASS=1%s, but points in time are kept on the nodes; write "
                              "BYPASS=0, and flush=DIR in storage_info for copies in a parallel "
                              "file system",
                              bypass_ ? "" : ", as SCR_CACHE_BYPASS says");
}

// ---- Stores

StoreLine::StoreLine(ConfigLine line)
    : line_(std::move(line)), directory_(directory_of(line_.words.front().value)) {}

Status StoreLine::read() {
    std::set<std::string> given;
    return each_word(line_, given, [this](const ConfigWord &word) { return take(word); });
}

Status StoreLine::take(const ConfigWord &word) {
    if (&word == &line_.words.front() || word.key == "FLUSH") {
        return Status::ok();
    }
    if (word.key == "GROUP") {
        group_ = upper_case(word.value);
        return Status::ok();
    }
    if (word.key == "COUNT") {
        return take_number(line_, word, 0, largest_count, count_);
    }
    if (word.key == "ENABLED") {
        return take_number(line_, word, 0, 1, enabled_);
    }
    if (word.key == "MKDIR") {
        return take_number(line_, word, 0, 1, makes_directories_);
    }
    return line_.refuse("%.100s is none of GROUP, COUNT, ENABLED, MKDIR and FLUSH, which stores "
                        "have",
                        word.key.c_str());
}

Status StoreLine::check_group(const Levels &levels) const {
    const auto has_it = [this](const auto &host) { return host.second.contains(group_); };
    return group_ == "NODE" || group_ == "WORLD" || std::ranges::any_of(levels.groups, has_it)
               ? Status::ok()
               : line_.refuse("GROUP=%.100s is none of NODE, WORLD and the names in lines that "
                              "begin with GROUPS",
                              group_.c_str());
}

Status StoreLine::check_users(const std::vector<const LevelLine *> &users,
                              const LevelDefaults &defaults) const {
    if (users.empty()) {
        return Status::ok();
    }
    const char *name = directory().c_str();
    const ConfigLine &first = users.front()->line();
    if (!enabled_) {
        return first.refuse("STORE=%.200s has ENABLED=0 in line %d", name, line_.number);
    }
    if (!makes_directories_) {
        return first.refuse("STORE=%.200s has MKDIR=0 in line %d, and each point in time has a "
                            "directory of its own",
                            name, line_.number);
    }
    const uint64_t count = count_.value_or(defaults.count.value_or(largest_count));
    if (users.size() > count) {
        return line_.refuse("COUNT=%llu%s, but %zu descriptors have STORE=%.200s, each of which "
                            "keeps a point in time",
                            static_cast<unsigned long long>(count),
                            count_ ? "" : ", as SCR_CACHE_SIZE says", users.size(), name);
    }
    return Status::ok();
}

} // namespace cd
