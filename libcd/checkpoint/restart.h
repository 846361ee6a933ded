// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/inventory.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cd::checkpoint {

struct OpenLevel {
    int index = 0;
    uint64_t interval = 1;
    size_t store = 0;
    Division division;
    std::unique_ptr<redset::Exchange> set;
};

// A root that is ready to be checkpointed, from the checkpoint that all ranks start from.
struct OpenRoot {
    std::string root;
    std::vector<OpenStore> stores;
    std::vector<OpenLevel> levels;
    uint64_t session = 0;
    std::set<uint64_t> sessions; // of all checkpoints that are there, and this one
    uint64_t next_number = 1;
    std::optional<size_t> flush_store;
    std::optional<Start> start;
};

// The level that protects an epoch.
size_t level_of(const std::vector<OpenLevel> &levels, uint64_t epoch);

// Recovers the newest committed checkpoint of which all ranks have their files, or can have them
// rebuilt. Then deletes checkpoints that can never be committed. Starts afresh where none was
// committed. CD_ERROR_REDUNDANCY_EXCEEDED names the ranks whose files are lost. All ranks get the
// same outcome. Does not throw.
Status open_root(Job &job, const Request &request, OpenRoot &opened);

} // namespace cd::checkpoint
