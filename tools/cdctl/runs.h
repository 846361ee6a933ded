// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cdctl {

// What there is of a root's points in time, in one directory of these or in all of one run. A run
// is a job with all of its restarts, each of which has a session of its own.
struct Root {
    std::string name;
    std::set<uint64_t> sessions;
    std::set<std::filesystem::path> lies_in; // NAME.points
    cd::checkpoint::Findings findings;
    std::map<cd::checkpoint::CheckpointId, std::string> directories; // one of each that was given
    std::optional<cd::checkpoint::Unread> problem;
    bool is_everybodys = false; // it cannot be read, and does not tell of which session it is
};

// Puts together what is of one name and run: where a session is in common, and a
// directory that lies among those of another part, as that of a node that was away for a while.
// With what is everybody's all of the name is one.
std::vector<Root> put_together(std::vector<Root> parts);

// A sentence for each name that several runs have.
std::vector<std::string> different_runs(const std::vector<Root> &roots);

} // namespace cdctl
