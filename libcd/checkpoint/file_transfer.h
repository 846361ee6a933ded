// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/findings.h"
#include "checkpoint/job.h"

#include <map>
#include <memory>
#include <string>

namespace cd::checkpoint {

// Copies files to where they are needed, by pieces, all of them at the same time. All ranks call it
// with the same transfers. A file that its holder cannot read stays away, as if it were lost; what
// the receiver cannot write, or has no room for, is everybody's failure, before any of it is sent
// where that can be known. Does not throw.
Status move_files(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                  const std::vector<Transfer> &transfers, bool sync);

// Files that came to this rank, beside those whose names they get. What is not published is gone
// with it.
class Arrivals {
public:
    virtual ~Arrivals() = default;
    virtual std::map<std::string, std::string> paths() const = 0; // by name
    virtual void give_up(const std::string &name) = 0;
    virtual Status publish() = 0;
};

// The same, but that files have no names yet.
Status receive_files(Job &job, const CheckpointDir &folder, const CheckpointId &point,
                     const std::vector<Transfer> &transfers, bool sync,
                     std::unique_ptr<Arrivals> &arrivals);

} // namespace cd::checkpoint
