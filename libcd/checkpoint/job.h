// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint.h"
#include "redset/exchange.h"
#include "redset/set.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cd::checkpoint {

// A committed checkpoint of a root in a directory of a rank that does not have that root.
struct Elsewhere {
    CheckpointId newest;
    int rank = 0;
    std::string path;
};

// The processes that share a root, and how they meet: over MPI, or in the memory of one process.
// Positions count from 0; ranks are those of the whole program, and ascend.
class Job {
public:
    virtual ~Job() = default;

    virtual redset::Exchange &all() = 0;
    virtual const std::vector<int> &ranks() const = 0;
    virtual int program_ranks() const = 0;
    virtual std::string node() const = 0;

    // The root's checkpoints in directories of ranks without it. All ranks of the root get the
    // same.
    virtual const std::vector<Elsewhere> &elsewhere() const = 0;

    // Collective. Those with the same color get `part`, in the order of their keys. All get the
    // same outcome. Does not throw.
    virtual Status divide(int color, int key, std::unique_ptr<redset::Exchange> &part) = 0;

    // Collective. part: the members of this rank's set.
    Status meet_in(const redset::Set &set, std::unique_ptr<redset::Exchange> &part);

    int rank() { return ranks()[static_cast<size_t>(all().self())]; }

    // Whether this rank is the one that prints what all know.
    bool warns_users() { return all().self() == 0; }
    void warn_once(const char *line);
};

// Collective. `own` is this rank's status; all ranks return success, or the first failure with the
// ranks that have its code. CD_ERROR_REDUNDANCY_EXCEEDED lists all that is lost; other failures but
// CD_ERROR_STORE_FULL come before it. Does not throw.
Status agree(Job &job, Status own);

// Agrees as above, and gathers bytes. `all` receives those of all ranks, after success.
Status agree(Job &job, Status own, std::span<const std::byte> bytes,
             std::vector<redset::Bytes> &all);

// The same, but where the ranks cannot meet at all, the outcome is `own` and `all` is empty.
Status agree_if_possible(Job &job, Status own, std::span<const std::byte> bytes,
                         std::vector<redset::Bytes> &all);

// For outcomes that all ranks compute alike. Returns `found`, unless a rank had no memory.
Status agree_on_memory(Job &job, Status found);

} // namespace cd::checkpoint
