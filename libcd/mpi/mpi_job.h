// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "checkpoint/job.h"
#include "mpi/mpi_exchange.h"

#include <memory>
#include <string>
#include <vector>

namespace cd::mpi {

// A rank's root, before it meets the ranks that share it.
struct OwnRoot {
    std::string name;
    std::vector<std::string> directories; // where this rank may have checkpoints of other roots
};

// The ranks of MPI_COMM_WORLD that have a root of one name.
class MpiJob : public checkpoint::Job {
public:
    // Collective over MPI_COMM_WORLD: each rank calls it with its root. Ranks with several roots
    // create them in the same order, and threads one after the other.
    static Status meet(const OwnRoot &root, std::unique_ptr<checkpoint::Job> &job);

    // Takes the place of meet() where the name of this rank's root is not valid: all ranks fail
    // with `why`. MPI is usable.
    static Status refuse(const SavedStatus &why);

    static std::string name_of_node(); // MPI is usable

    MpiJob(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks,
           std::vector<checkpoint::Elsewhere> elsewhere);

    redset::Exchange &all() override { return *all_; }
    const std::vector<int> &ranks() const override { return ranks_; }
    int program_ranks() const override { return program_ranks_; }
    std::string node() const override { return name_of_node(); }
    const std::vector<checkpoint::Elsewhere> &elsewhere() const override { return elsewhere_; }
    Status divide(int color, int key, std::unique_ptr<redset::Exchange> &part) override;

private:
    std::unique_ptr<MpiExchange> all_;
    std::vector<int> ranks_;
    int program_ranks_;
    std::vector<checkpoint::Elsewhere> elsewhere_;
};

} // namespace cd::mpi
