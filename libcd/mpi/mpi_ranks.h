// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/job.h"
#include "mpi/mpi_exchange.h"

#include <memory>
#include <string>
#include <vector>

namespace cd::mpi {

// Some ranks of MPI_COMM_WORLD, on communicators of their own.
class MpiRanks : public checkpoint::Job {
public:
    MpiRanks(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks,
             std::vector<checkpoint::Elsewhere> elsewhere = {});

    static std::string name_of_node(); // MPI is usable

    redset::Exchange &all() override { return *all_; }
    const std::vector<int> &ranks() const override { return ranks_; }
    int program_ranks() const override { return program_ranks_; }
    std::string node() const override { return name_of_node(); }
    const std::vector<checkpoint::Elsewhere> &elsewhere() const override { return elsewhere_; }
    Status divide(int color, int key, std::unique_ptr<redset::Exchange> &part) override;
    void begin_to_leave() noexcept override { all_->begin_to_leave(rank()); }
    checkpoint::Parting leave() noexcept override { return all_->leave(); }
    void give_name_up() noexcept override {}

private:
    std::unique_ptr<MpiExchange> all_;
    std::vector<int> ranks_;
    int program_ranks_;
    std::vector<checkpoint::Elsewhere> elsewhere_;
};

} // namespace cd::mpi
