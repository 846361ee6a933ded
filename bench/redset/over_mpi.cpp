// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost over MPI: every rank has a file, and all are one set.
#include "members.h"

#include "mpi/mpi_exchange.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

void run(const Workplace &workplace) {
    std::unique_ptr<cd::mpi::MpiExchange> made;
    if (!cd::mpi::MpiExchange::make(MPI_COMM_WORLD, 0, 0, made)) {
        std::fprintf(stderr, "cd_bench_redset_mpi: %s\n", cd::message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    cd::mpi::MpiExchange &exchange = *made;
    Costs costs;
    if (exchange.self() == 0) {
        costs = Costs::measure(workplace.folder, workplace.bytes);
    }
    costs.sending = sending_cost(exchange, workplace);
    if (exchange.self() == 0) {
        costs.print_sending(exchange.members());
    }
    run_cases(exchange, workplace, costs);
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Workplace workplace{"/dev/shm", size_t{256} << 20, CLOCK_PROCESS_CPUTIME_ID};
    if (!read_arguments(argc, argv, workplace)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    run(workplace);
    MPI_Finalize();
    return 0;
}
