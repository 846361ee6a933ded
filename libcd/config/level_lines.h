// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/config_line.h"
#include "config/levels.h"

#include <optional>
#include <vector>

namespace cd {

// SCR's settings that stand for what lines of descriptors and stores do not say.
struct LevelDefaults {
    std::string group = "NODE";
    std::string store;
    int set_size = 8;
    int checksums = 2;
    bool bypass = false;
    std::optional<uint64_t> count;
};

constexpr uint64_t smallest_set = 2;
constexpr uint64_t largest_set = 65535;
constexpr uint64_t most_checksums = 255;
constexpr uint64_t largest_count = 1'000'000'000;

// The same text for the same directory, as far as text tells: "/a/b" for "/a//b/./".
std::string directory_of(std::string_view text);

// A line that begins with CKPT: a descriptor. read() and then, for one that is enabled, complete().
class LevelLine {
public:
    explicit LevelLine(ConfigLine line) : line_(std::move(line)) {}

    Status read();
    Status complete(const LevelDefaults &defaults);

    const ConfigLine &line() const { return line_; }

    Level level;
    uint64_t checkpoint = 0;
    bool enabled = true;

private:
    Status take(const ConfigWord &word);
    Status take_type(const ConfigWord &word);
    Status check_keys() const;

    ConfigLine line_;
    std::set<std::string> given_;
    std::optional<int> checksums_;
    int replicas_ = 1;
    std::optional<bool> bypass_;
};

// A line that begins with STORES or STORE: what a directory is like.
class StoreLine {
public:
    explicit StoreLine(ConfigLine line);

    const std::string &directory() const { return directory_; }

    Status read();

    // Which ranks see a directory is found out, so that of the group only the name is looked at.
    Status check_group(const Levels &levels) const;

    // What descriptors are in it.
    Status check_users(const std::vector<const LevelLine *> &users,
                       const LevelDefaults &defaults) const;

private:
    Status take(const ConfigWord &word);

    ConfigLine line_;
    std::string directory_;
    std::string group_ = "NODE";
    std::optional<uint64_t> count_;
    bool enabled_ = true;
    bool makes_directories_ = true;
};

} // namespace cd
