// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "mpi/live_names.h"
#include "mpi/mpi_ranks.h"

#include <memory>
#include <string>
#include <vector>

namespace cd::mpi {

// What a rank says of its root before it meets the ranks that share it.
struct OwnRoot {
    std::string name;
    std::vector<std::string> directories; // where this rank may have checkpoints of other roots
};

// The ranks of MPI_COMM_WORLD that have a root of one name.
class MpiJob : public MpiRanks {
public:
    // All ranks of MPI_COMM_WORLD call it, each with its root, and in the same order where they
    // have several. Threads do so one after the other. CD_ERROR_NAME_IN_USE where another rank has
    // a root of this name already, which this one has no part in.
    static Status meet(const OwnRoot &root, std::unique_ptr<checkpoint::Job> &job);

    // Instead, where this rank does not know the name of its root, for the reason why: none of
    // those that call either gets a job. The outcome is that of all.
    // MPI is usable.
    static Status refuse(const SavedStatus &why);

    void give_name_up() noexcept override { name_->give_up(); }

private:
    MpiJob(std::unique_ptr<LiveName> name, std::unique_ptr<MpiExchange> all, std::vector<int> ranks,
           int program_ranks, std::vector<checkpoint::Elsewhere> elsewhere);

    std::unique_ptr<LiveName> name_;
};

} // namespace cd::mpi
