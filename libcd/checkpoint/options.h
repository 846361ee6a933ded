// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/redundancy_sets.h"
#include "config/scr_config.h"
#include "config/storage_info.h"

#include <optional>
#include <string>
#include <vector>

namespace cd::checkpoint {

// One way to protect points in time, and which.
struct LevelRequest {
    int index = 0;
    uint64_t interval = 1; // epochs that it divides, and no larger one of another level
    Protecting protecting;
    std::string group; // what fails together with this rank
    size_t store = 0;
};

// Whose points in time are protected, how, and from which to start. Ranks have levels and stores
// alike but for groups, and for where the stores are.
struct Request {
    std::string root;
    std::string restart;             // CD_RESTART
    std::vector<std::string> stores; // directories
    std::vector<LevelRequest> levels;
    std::optional<size_t> flush_store;
    uint64_t flush_interval = 1;
    std::string settings; // others that all ranks have to have alike
    bool sync = true;
};

// What a root's storage_info, and the file that it may name as config=, ask for on a node of this
// name: the request's stores, levels, settings and sync. directory: of the local store.
Status read_request(const StorageInfo &info, const std::string &directory, const std::string &node,
                    Request &request);

} // namespace cd::checkpoint
