// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/findings.h"

#include <memory>
#include <optional>
#include <string>

namespace cd::protection {

// Whose points in time are protected, how, and from which to start.
struct Request {
    std::string directory; // of the local store
    std::string root;
    std::string restart; // CD_RESTART
    Protecting protecting;
    std::string group; // what fails together with this rank; "": what is on its node
    bool sync = true;
};

// Ready to protect, from the point in time that all ranks start from.
struct Opened {
    Folder folder;
    bool speaks = false; // for its directory
    Division division;
    std::unique_ptr<redset::Exchange> set;
    uint64_t session = 0;
    uint64_t next_number = 1;
    std::optional<Point> start;
};

// Finds the newest point in time that counted and of which all ranks have their files or can have
// them rebuilt, and does that; all ranks get the same outcome. Nothing is deleted. Where nothing is
// left of any, all start afresh; where something is left and not enough of any,
// CD_ERROR_REDUNDANCY_EXCEEDED tells which ranks' files are lost. May throw std::bad_alloc.
Status open(Job &job, const Request &request, Opened &opened);

} // namespace cd::protection
