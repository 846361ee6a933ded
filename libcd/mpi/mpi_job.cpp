// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/attempt.h"

#include <algorithm>
#include <mutex>
#include <span>

namespace cd::mpi {
namespace {

using redset::Bytes;

// All ranks of whole call it, and get the same outcome.
Status make_exchange(MPI_Comm whole, int color, int key, std::unique_ptr<MpiExchange> &exchange) {
    // Where there is no memory for others. It lives as long as a thread of the program.
    static thread_local Communicator::Tally spare;
    Communicator part;
    if (Status status = Communicator::split(whole, color, key, part); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status ready = attempt([&] { made = std::make_unique<MpiExchange>(part); });
    if (made == nullptr) {
        Status all;
        Status met = part.check_all(ready, spare, all);
        if (!met) {
            part.abandon();
        }
        return met ? all : met;
    }
    Status status = made->check_all(ready);
    if (status) {
        exchange = std::move(made);
    }
    return status;
}

// The ranks that told the same as this one.
std::vector<int> those_with(const std::vector<Bytes> &names, int self) {
    std::vector<int> ranks;
    for (size_t rank = 0; rank < names.size(); ++rank) {
        if (names[rank] == names[static_cast<size_t>(self)]) {
            ranks.push_back(static_cast<int>(rank));
        }
    }
    return ranks;
}

// What everybody calls its root, with the same before it, unless somebody does not know.
Status gather_names(MpiExchange &all, Status own, std::string_view root,
                    std::vector<Bytes> &names) {
    if (Status status = redset::gather_outcomes(all, own, std::as_bytes(std::span(root)), names);
        !status) {
        return status;
    }
    const auto knows = [](const Bytes &told) { return redset::code_of(told) == CD_ERROR_NONE; };
    const auto refused = std::ranges::find_if_not(names, knows);
    return refused == names.end() ? Status::ok()
                                  : fail(redset::code_of(*refused), "rank %td: %s",
                                         refused - names.begin(), redset::text_of(*refused));
}

// The exchange between all ranks: what the program does with MPI_COMM_WORLD is another matter. It
// is there as long as the process: ranks that end without MPI_Finalize do not meet to free it.
struct World {
    std::mutex mutex; // one thread at a time meets the others
    MpiExchange *exchange = nullptr;
};

constinit World world;

Status open_world() {
    if (world.exchange != nullptr) {
        return Status::ok();
    }
    int rank = 0;
    if (Status status = outcome(own().comm_rank(MPI_COMM_WORLD, &rank), "tell this rank");
        !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    Status status = make_exchange(MPI_COMM_WORLD, 0, rank, made);
    world.exchange = made.release();
    return status;
}

} // namespace

MpiJob::MpiJob(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks)
    : all_(std::move(all)), ranks_(std::move(ranks)), program_ranks_(program_ranks) {}

Status MpiJob::meet(std::string_view root, std::unique_ptr<protection::Job> &job) {
    if (!is_usable()) {
        return fail(
            CD_ERROR_ARGUMENT,
            "the root \"%.*s\" has redundancy, by which the ranks of an MPI program protect each "
            "other; create it between MPI_Init and MPI_Finalize, in the process that calls these",
            static_cast<int>(root.size()), root.data());
    }
    const std::lock_guard lock(world.mutex);
    if (Status status = open_world(); !status) {
        return status;
    }
    MpiExchange &all = *world.exchange;
    std::vector<Bytes> names;
    if (Status status = gather_names(all, Status::ok(), root, names); !status) {
        return status;
    }
    std::vector<int> ranks;
    Status known = attempt([&] { ranks = those_with(names, all.self()); });
    if (Status status = all.check_all(known); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> part;
    if (Status status = make_exchange(all.communicator().get(), ranks.front(), all.self(), part);
        !status) {
        return status;
    }
    MpiExchange &meeting = *part; // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    Status ready =
        attempt([&] { made.reset(new MpiJob(std::move(part), std::move(ranks), all.members())); });
    if (Status status = meeting.check_all(ready); !status) {
        return status;
    }
    job = std::move(made);
    return Status::ok();
}

Status MpiJob::refuse(const KeptOutcome &why) {
    const std::lock_guard lock(world.mutex);
    if (Status status = open_world(); !status) {
        return status;
    }
    std::vector<Bytes> names;
    return gather_names(*world.exchange, why.again(), "", names);
}

std::string MpiJob::node() const {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

Status MpiJob::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    std::unique_ptr<MpiExchange> made;
    if (Status status = make_exchange(all_->communicator().get(), color, key, made); !status) {
        return status;
    }
    part = std::move(made);
    return Status::ok();
}

} // namespace cd::mpi
