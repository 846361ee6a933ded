// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/dir_lock.h"
#include "checkpoint/findings.h"
#include "checkpoint/job.h"

#include <memory>
#include <optional>
#include <set>
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
    std::string remark;   // for people, of one rank, which says whose it is; "": none
    bool sync = true;
};

struct OpenStore {
    CheckpointDir folder;
    bool there = true;                      // else it is listed, and not made for that alone
    bool speaks = false;                    // for its directory
    std::unique_ptr<DirLock> use = nullptr; // of who speaks
    bool begins = false; // there was nothing in any of the stores, which it lists
};

// Of a directory in which there is nothing, nothing is left, be it that others were listed in it.
void close_stores(std::vector<OpenStore> &stores) noexcept;

struct OpenLevel {
    int index = 0;
    uint64_t interval = 1;
    size_t store = 0;
    Division division;
    std::unique_ptr<redset::Exchange> set;
};

struct Start {
    CheckpointId point;
    size_t store = 0;
};

// What people have to know of a start, in the rank that tells them; it is none where some rank
// fails at it.
using Remarks = std::vector<std::string>;

// Ready to protect, from the point in time that all ranks start from.
struct Opened {
    std::string root;
    std::vector<OpenStore> stores;
    std::vector<OpenLevel> levels;
    uint64_t session = 0;
    std::set<uint64_t> sessions; // whose points in time there are, and this one
    uint64_t next_number = 1;
    std::optional<size_t> flush_store;
    std::optional<Start> start;
    bool start_is_protected = false; // from as much as its level covers, where ranks are now
    Remarks remarks;
};

// The level that protects an epoch.
size_t level_of(const std::vector<OpenLevel> &levels, uint64_t epoch);

// Finds the newest point in time that counted and of which all ranks have their files or can have
// them rebuilt, and does that; all ranks get the same outcome. Only attempts that can never count
// are deleted, once all have started, or where there is no room otherwise. Where nothing is left of
// any, all start afresh; where something is left and not enough of any,
// CD_ERROR_REDUNDANCY_EXCEEDED tells which ranks' files are lost, and where no record of it can be
// read, what is wrong with one. Does not throw.
Status open(Job &job, const Request &request, Opened &opened);

} // namespace cd::checkpoint
