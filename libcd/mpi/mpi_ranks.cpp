// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_ranks.h"

#include "mpi/meeting.h"

#include <utility>

namespace cd::mpi {

MpiRanks::MpiRanks(std::unique_ptr<MpiExchange> all, std::vector<int> ranks, int program_ranks,
                   std::vector<checkpoint::Elsewhere> elsewhere)
    : all_(std::move(all)), ranks_(std::move(ranks)), program_ranks_(program_ranks),
      elsewhere_(std::move(elsewhere)) {}

std::string MpiRanks::name_of_node() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    own().get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

// Those of a part have one outcome.
Status MpiRanks::divide(int color, int key, std::unique_ptr<redset::Exchange> &part) {
    std::unique_ptr<MpiExchange> made;
    Status parted = make_exchange(all_->communicator().get(), color, key, made);
    Status status = all_->check_all(parted);
    if (status) {
        part = std::move(made);
    }
    return status;
}

} // namespace cd::mpi
