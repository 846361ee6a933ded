// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk.h"

#include <cstddef>
#include <vector>

namespace crash {

// A change of a disk. A tape of them can be replayed and looked at in between.
struct Event {
    enum class Kind {
        inode, // a file or directory without a name
        change,
        force,
        fail_to_force,
        begin, // a step of the program
        end,
    };
    Kind kind = Kind::change;
    Change change;
    int inode = 0; // what is forced; the parent of a new one
    bool directory = false;
    size_t step = 0;
    bool success = false; // end
};

using Tape = std::vector<Event>;

void happen(const Event &event, Disk &disk);

} // namespace crash
