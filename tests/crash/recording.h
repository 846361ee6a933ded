// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "disk.h"
#include "stored.h"
#include "tape.h"

#include "cd/cd.h"

#include <string>
#include <vector>

namespace crash {

// How a program's store is made.
struct StoreKind {
    size_t block = 40; // bytes for each of the model's
    int keep = 1;
    bool forced = true;
    bool checksummed = true;
    bool direct = false; // past the page cache, what is whole blocks
    bool tight = false;  // the disk has no room to spare, so that the file grows by what it needs

    std::string storage() const;
};

// The contents that are allowed when the disk is cut off during or after a step.
struct Expectation {
    std::string what;
    std::vector<Stored> during;
    std::vector<Stored> after;
};

// The calls that a process made to a disk, and the contents that each crash point allows.
struct Recording {
    Disk start;
    Tape tape;
    std::vector<Expectation> steps;
    std::vector<Stored> before; // what may be found at the start
};

// The outcome of opening the store on a disk.
struct Opened {
    cd_error error = CD_ERROR_NONE; // of opening it, or of reading its data
    std::string wrong;              // "" or what is wrong
    Stored stored;
    std::vector<std::string> warnings;
};
Opened open_store_on(const Disk &disk, const StoreKind &kind);

// Returns the disk after the store on it was opened.
Disk disk_that_was_opened(const Disk &disk, const StoreKind &kind);

// Opens the store and returns "" or what is wrong; match: which of `allowed` it holds.
std::string judge(const Disk &found, const StoreKind &kind, const std::vector<Stored> &allowed,
                  size_t &match);

} // namespace crash
