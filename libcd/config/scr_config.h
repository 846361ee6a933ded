// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cd {

// One way to protect checkpoints: SCR's redundancy descriptor.
struct Level {
    int index = 0;
    uint64_t interval = 1; // an epoch has the level with the largest interval that divides it
    std::string group = "NODE";
    std::string store; // the directory of its checkpoints; "": beside the local store
    Redundancy redundancy{Scheme::xor_set, 0};
    int set_size = 8;
    bool operator==(const Level &) const = default;
};

// The contents of config=FILE.
struct Levels {
    std::vector<Level> levels; // those that are enabled
    // By host and group name: hosts that fail together have the same value.
    std::map<std::string, std::map<std::string, std::string>> groups;
    std::map<std::string, std::string> variables; // of the environment, used in values
};

// Parses the lines of an SCR configuration file: descriptors (CKPT=), groups (GROUPS=), and the
// settings that are defaults of descriptors (SCR_GROUP, SCR_CACHE_BASE, SCR_SET_SIZE,
// SCR_SET_FAILURES). Refuses settings that would change what is protected; ignores lines of stores
// and other settings. file: names the text in messages. An error leaves `levels` unchanged. May
// throw std::bad_alloc.
Status parse_levels(std::string_view text, const char *file, Levels &levels);

} // namespace cd
