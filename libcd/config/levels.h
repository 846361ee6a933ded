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

// One way to protect points in time: SCR's redundancy descriptor.
struct Level {
    int index = 0;
    uint64_t interval = 1; // the level with the largest one that divides an epoch has it
    std::string group = "NODE";
    std::string store; // where it keeps its points in time; "": beside the local store
    Redundancy redundancy{Scheme::xor_set, 0};
    int set_size = 8;
    bool operator==(const Level &) const = default;
};

// What config=FILE says.
struct Levels {
    std::vector<Level> levels; // those that are enabled
    // By host name and name of a group: what fails together has the same value.
    std::map<std::string, std::map<std::string, std::string>> groups;
    std::map<std::string, std::string> variables; // of the environment, that values have
    // With its line, a setting by which SCR would make copies in a parallel file system; "": none.
    std::string asks_for_copies;
};

// Reads lines as SCR has them; docs/howto/redundancy.md lists them. file names the text in messages. On
// an error levels is unchanged. May throw std::bad_alloc.
Status parse_levels(std::string_view text, const char *file, Levels &levels);

} // namespace cd
