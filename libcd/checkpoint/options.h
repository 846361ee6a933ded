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

// One level of protection, and which epochs have it.
struct LevelRequest {
    int index = 0;
    uint64_t interval = 1; // an epoch has the level with the largest interval that divides it
    SetOptions sets;
    std::string group; // the failure group of this rank
    size_t store = 0;
};

// A rank's settings for the redundancy of a root. All ranks have the same levels and stores, but
// for groups and directories.
struct Request {
    std::string root;
    std::string restart;             // CD_RESTART
    std::vector<std::string> stores; // directories
    std::vector<LevelRequest> levels;
    std::optional<size_t> flush_store;
    uint64_t flush_interval = 1;
    std::string settings; // other settings that all ranks must have alike, as text
    bool sync = true;
};

// Sets the request's stores, levels, settings and sync from a root's storage_info and the file of
// config=. node: this rank's. directory: of the local store.
Status read_request(const StorageInfo &info, const std::string &directory, const std::string &node,
                    Request &request);

} // namespace cd::checkpoint
