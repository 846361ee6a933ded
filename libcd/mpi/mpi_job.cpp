// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "base/attempt.h"
#include "protection/point.h"

namespace cd::mpi {
namespace {

using redset::Bytes;

// All ranks of the communicator call it, and get the same outcome.
Status make_exchange(Communicator &communicator, std::unique_ptr<MpiExchange> &exchange) {
    std::unique_ptr<MpiExchange> made;
    Status ready = attempt([&] { made = std::make_unique<MpiExchange>(communicator); });
    const Communicator &meeting = made != nullptr ? made->communicator() : communicator;
    Status status = meeting.check_all(ready);
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

// What the program does with MPI_COMM_WORLD is another matter. It is there as long as the process:
// ranks that end without MPI_Finalize do not meet to free it.
Status own_world(MpiExchange *&world) {
    static MpiExchange *made = nullptr;
    if (made == nullptr) {
        Communicator communicator;
        if (Status status = Communicator::duplicate(MPI_COMM_WORLD, communicator); !status) {
            return status;
        }
        std::unique_ptr<MpiExchange> exchange;
        if (Status status = make_exchange(communicator, exchange); !status) {
            return status;
        }
        made = exchange.release();
    }
    world = made;
    return Status::ok();
}

} // namespace

MpiJob::MpiJob(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks)
    : all_(std::move(all)), ranks_(std::move(ranks)), program_ranks_(program_ranks) {}

Status MpiJob::meet(const std::string &root, std::unique_ptr<protection::Job> &job) {
    if (!is_usable()) {
        return fail(CD_ERROR_ARGUMENT,
                    "the root \"%s\" has redundancy, by which the ranks of an MPI program protect "
                    "each other; create it between MPI_Init and MPI_Finalize",
                    root.c_str());
    }
    MpiExchange *world = nullptr;
    if (Status status = own_world(world); !status) {
        return status;
    }
    std::vector<Bytes> names;
    if (Status status = world->gather(std::as_bytes(std::span(root)), names); !status) {
        return status;
    }
    std::vector<int> ranks;
    Status known = attempt([&] { ranks = those_with(names, world->self()); });
    if (Status status = world->communicator().check_all(known); !status) {
        return status;
    }
    Communicator part;
    if (Status status = world->communicator().split(ranks.front(), world->self(), part); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> all;
    if (Status status = make_exchange(part, all); !status) {
        return status;
    }
    const Communicator &communicator = all->communicator(); // lives on, or ends on all
    std::unique_ptr<MpiJob> made;
    Status ready = attempt(
        [&] { made.reset(new MpiJob(std::move(all), std::move(ranks), world->members())); });
    if (Status status = communicator.check_all(ready); !status) {
        return status;
    }
    job = std::move(made);
    return Status::ok();
}

std::string MpiJob::node() const {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

Status MpiJob::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    Communicator communicator;
    if (Status status = all_->communicator().split(color, key, communicator); !status) {
        return status;
    }
    std::unique_ptr<MpiExchange> made;
    if (Status status = make_exchange(communicator, made); !status) {
        return status;
    }
    part = std::move(made);
    return Status::ok();
}

} // namespace cd::mpi
