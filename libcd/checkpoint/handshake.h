// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "checkpoint/job.h"
#include "checkpoint/options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cd::checkpoint {

// Sent by each rank to all others before anything else.
struct Handshake {
    std::string settings;                 // that all ranks must have alike
    std::vector<std::string> groups;      // by level
    std::vector<std::string> directories; // by store: the node, and the directory's identity
    uint64_t session = 0;
};

// Opens the stores of the request and gathers all ranks' handshakes, by position in the job. Fails
// where settings differ, and where a rank has one directory under two names. All ranks get the same
// outcome; after a failure `stores` is empty. Does not throw.
Status shake_hands(Job &job, const Request &request, std::vector<OpenStore> &stores,
                   std::vector<Handshake> &all);

} // namespace cd::checkpoint
