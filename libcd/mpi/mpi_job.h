// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/kept_outcome.h"
#include "mpi/live_names.h"
#include "mpi/mpi_exchange.h"
#include "protection/job.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cd::mpi {

// The ranks of MPI_COMM_WORLD that have a root of one name, on communicators of their own.
class MpiJob : public protection::Job {
public:
    // All ranks of MPI_COMM_WORLD call it, each with the name of its root and the directories that
    // it asks for, and in the same order where they have several. Threads do so one after the
    // other. CD_ERROR_NAME_IN_USE where another rank has a root of this name already, which this
    // one has no part in.
    static Status meet(std::string_view root, const std::vector<std::string> &directories,
                       std::unique_ptr<protection::Job> &job);

    static std::string name_of_node(); // MPI is usable

    // Instead, where this rank does not know the name of its root, for the reason why: none of
    // those that call either gets a job. The outcome is that of all.
    // MPI is usable.
    static Status refuse(const KeptOutcome &why);

    redset::Exchange &all() override { return *all_; }
    const std::vector<int> &ranks() const override { return ranks_; }
    int program_ranks() const override { return program_ranks_; }
    std::string node() const override { return name_of_node(); }
    const std::vector<protection::Elsewhere> &elsewhere() const override { return elsewhere_; }
    Status divide(int color, int key, std::unique_ptr<redset::Exchange> &part) override;
    void give_name_up() noexcept override { name_.give_up(); }

private:
    MpiJob(std::string_view root, std::unique_ptr<MpiExchange> all, std::vector<int> ranks,
           int program_ranks, std::vector<protection::Elsewhere> elsewhere);

    LiveName name_;
    std::unique_ptr<MpiExchange> all_;
    std::vector<int> ranks_;
    int program_ranks_;
    std::vector<protection::Elsewhere> elsewhere_;
};

} // namespace cd::mpi
