// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_job.h"

#include "protection/point.h"

#include <algorithm>

namespace cd::mpi {
namespace {

using redset::Bytes;

// What the program does with MPI_COMM_WORLD is another matter. It is there as long as the process:
// ranks that end without MPI_Finalize do not meet to free it.
Status own_world(MpiExchange *&world) {
    static MpiExchange *made = nullptr;
    if (made == nullptr) {
        Communicator communicator;
        if (Status status = Communicator::duplicate(MPI_COMM_WORLD, communicator); !status) {
            return status;
        }
        made = new MpiExchange(std::move(communicator));
    }
    world = made;
    return Status::ok();
}

} // namespace

MpiJob::MpiJob(Communicator communicator, std::vector<int> ranks, int program_ranks)
    : all_(std::make_unique<MpiExchange>(std::move(communicator))), ranks_(std::move(ranks)),
      program_ranks_(program_ranks) {}

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
    const Bytes &own_name = names[static_cast<size_t>(world->self())];
    std::vector<int> ranks;
    for (int rank = 0; rank < world->members(); ++rank) {
        if (names[static_cast<size_t>(rank)] == own_name) {
            ranks.push_back(rank);
        }
    }
    Communicator part;
    if (Status status = world->communicator().split(ranks.front(), world->self(), part); !status) {
        return status;
    }
    job.reset(new MpiJob(std::move(part), std::move(ranks), world->members()));
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
    part = std::make_unique<MpiExchange>(std::move(communicator));
    return Status::ok();
}

} // namespace cd::mpi
