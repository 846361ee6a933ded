// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>
#include <vector>

namespace cdctl {

// The message for a file, or all, when memory runs out.
constexpr const char *no_memory =
    "there is not enough memory for this; free some, or let cdctl have more (ulimit -v)";

// The result of a command: the worst of what it found, from good to bad.
enum class Outcome {
    good,
    older,      // usable, but the newest state is lost, or an older point in time is damaged
    unreadable, // not there, no permission, no store, of a newer format, ...
    renamed,    // under a name under which no program starts from it
    damaged,    // no state is whole, or data of the newest are damaged
};

constexpr int exit_good = 0;
constexpr int exit_damaged = 1;
constexpr int exit_usage = 2;
constexpr int exit_unreadable = 3;
constexpr int exit_older = 4;

int exit_status(Outcome outcome);

struct Arguments {
    bool json = false;
    bool dry_run = false; // rebuild: writes nothing
    bool agree = false;   // rebuild: commits checkpoints that lack a record of their commit
    std::vector<std::string> paths;
};

// The subcommands. They print results to standard output and errors to standard error. May throw.
Outcome list(const Arguments &arguments);
Outcome show(const Arguments &arguments);
Outcome verify(const Arguments &arguments);
Outcome epoch(const Arguments &arguments);

// Writes, unless `dry_run`. Its paths are directories.
Outcome rebuild(const Arguments &arguments);

} // namespace cdctl
