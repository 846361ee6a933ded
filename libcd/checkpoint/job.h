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

// The processes whose roots have one name, as they meet: over MPI, or in the memory of one process.
// They are numbered from 0; ranks are those of the whole program, and ascend.
class Job {
public:
    virtual ~Job() = default;

    virtual redset::Exchange &all() = 0;
    virtual const std::vector<int> &ranks() const = 0;
    virtual int program_ranks() const = 0;
    virtual std::string node() const = 0;

    // What ranks without the root have of it in their directories. All ranks of the root get the
    // same.
    virtual const std::vector<Elsewhere> &elsewhere() const = 0;

    // All call it; those with the same color meet in part, in the order of their keys. All get the
    // same outcome. Does not throw.
    virtual Status divide(int color, int key, std::unique_ptr<redset::Exchange> &part) = 0;

    // Those of a set of which this rank is a member.
    Status meet_in(const redset::Set &set, std::unique_ptr<redset::Exchange> &part);

    // The root ends: from now on others may create one of its name.
    virtual void give_name_up() noexcept = 0;

    int rank() { return ranks()[static_cast<size_t>(all().self())]; }

    // One rank, of what all know alike.
    bool tells_people() { return all().self() == 0; }
    void warn_once(const char *line);
};

// All get the same outcome: success when all have it, else the first failure, and which ranks
// failed with its code. CD_ERROR_REDUNDANCY_EXCEEDED, with all that is lost, only where nothing
// else went wrong but for lack of room, with which it would be lost, too. Does not throw.
Status agree(Job &job, Status own);

// The same, and everybody's bytes when all succeeded.
Status agree(Job &job, Status own, std::span<const std::byte> bytes,
             std::vector<redset::Bytes> &all);

// The same, but where the ranks cannot meet at all, the outcome is `own` and `all` is empty.
Status agree_if_possible(Job &job, Status own, std::span<const std::byte> bytes,
                         std::vector<redset::Bytes> &all);

// For what all ranks find out alike: who has no memory to do so makes all fail; else the outcome is
// what was found.
Status agree_on_memory(Job &job, Status found);

} // namespace cd::checkpoint
