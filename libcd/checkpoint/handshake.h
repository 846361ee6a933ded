// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cd::checkpoint {

// What ranks have to know of each other before anything else.
struct Handshake {
    std::string settings;            // that all have to have alike
    std::vector<std::string> groups; // by level
    std::vector<std::string>
        relative; // by store: what it is here, if its name does not begin with /
    std::vector<std::string> directories; // by store: what tells it from others
    std::vector<std::string> problems;    // by store: why what is listed cannot be opened
    std::vector<std::string> there;       // by store: "yes", or nothing for what is listed
    std::vector<std::string> listed;      // in the list of stores that it sees
    bool has_list = false;
    std::string list_problem; // why it cannot read that
    uint64_t session = 0;
};

struct Introduced {
    std::vector<Handshake> all; // by position in the job
    // Each directory once, by whichever names: those of the request, and behind them those in which
    // programs with another configuration have left points in time of the root, as far as they are
    // there on any node.
    std::vector<OpenStore> stores;
    size_t asked_for = 0;       // how many of them the request has
    std::vector<size_t> places; // which one each of the request's is
};

// Opens the stores. All ranks get the same outcome. Does not throw.
Status introduce(Job &job, const Request &request, Introduced &introduced);

} // namespace cd::checkpoint
