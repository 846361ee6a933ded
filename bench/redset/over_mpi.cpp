// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost over MPI: every rank has a file, and all are one set. It is
// beside the least that they have to do, measured in the same run.
#include "bounds.h"
#include "kernels.h"

#include "mpi/mpi_exchange.h"
#include "redset/rebuild.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

namespace {

using namespace cd;
using namespace cd::redset;
namespace fs = std::filesystem;

void must(const Status &status) {
    if (!status) {
        std::fprintf(stderr, "cd_bench_redset_mpi: %s\n", message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

// Where MPI_Barrier may keep a processor from those who are waited for.
void wait_for_all() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0;) {
        std::this_thread::yield();
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

double sum_over_ranks(double value) {
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

class Case {
public:
    Case(const Shape &shape, const fs::path &folder, size_t bytes, const Costs &costs,
         mpi::MpiExchange &exchange)
        : set_{shape, 0, 1, shape.members, std::vector<int>(static_cast<size_t>(shape.members))},
          place_{folder.string(), "red/"}, name_("data" + std::to_string(exchange.self())),
          bytes_(bytes), costs_(costs), exchange_(exchange) {
        std::iota(set_.ranks.begin(), set_.ranks.end(), 0);
        fs::create_directories(folder);
        std::string data(bytes, '\0');
        for (size_t i = 0; i < bytes; ++i) {
            data[i] =
                static_cast<char>(i * 2654435761U >> 13 ^ static_cast<size_t>(exchange.self()));
        }
        std::ofstream(place_.path(name_), std::ios::binary) << data;
    }
    Case(const Case &) = delete;
    ~Case() {
        wait_for_all();
        std::error_code none;
        fs::remove_all(place_.folder, none);
        wait_for_all();
    }

    void encode() {
        measure("encode", encoding_passes(set_.shape),
                [&] { must(apply(exchange_, set_, place_, {name_}, {.sync = false})); });
    }

    void rebuild() {
        if (exchange_.self() < set_.shape.checks) {
            fs::remove(place_.path(name_));
            fs::remove(place_.scheme_file(set_, exchange_.self()));
        }
        measure("rebuild", rebuilding_passes(set_.shape), [&] {
            Survey survey;
            must(redset::rebuild(exchange_, set_, place_, {.sync = false}, survey));
        });
    }

private:
    template <typename Work>
    void measure(const char *what, const Passes &passes, const Work &work) {
        wait_for_all();
        const double start = MPI_Wtime();
        const double processor = processor_seconds();
        work();
        const double own = processor_seconds() - processor;
        wait_for_all();
        const double seconds = MPI_Wtime() - start;
        const double used = sum_over_ranks(own);
        if (exchange_.self() == 0) {
            print_result(what, set_.shape, static_cast<double>(bytes_) * set_.shape.members,
                         seconds, used, passes, costs_);
        }
    }

    Set set_;
    Place place_;
    std::string name_;
    size_t bytes_;
    const Costs &costs_;
    mpi::MpiExchange &exchange_;
};

void run(size_t bytes, const std::string &folder) {
    mpi::Communicator communicator;
    must(mpi::Communicator::duplicate(MPI_COMM_WORLD, communicator));
    mpi::MpiExchange exchange(communicator);
    Costs costs = {};
    if (exchange.self() == 0) {
        costs = Costs::measure(folder, bytes);
    }
    wait_for_all();
    const int members = exchange.members();
    std::vector<Shape> shapes{{Scheme::xor_set, members, 1}};
    for (int checks = 1; checks < members && checks <= 3; ++checks) {
        shapes.push_back({Scheme::reed_solomon, members, checks});
    }
    for (const Shape &shape : shapes) {
        Case example(shape, folder + "/cd-bench-redset-mpi", bytes, costs, exchange);
        example.encode();
        example.rebuild();
    }
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const size_t mib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 256;
    if (mib == 0) {
        std::fprintf(stderr, "usage: cd_bench_redset_mpi [MIB_OF_A_RANK [FOLDER]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    run(mib << 20, argc > 2 ? argv[2] : "/dev/shm");
    MPI_Finalize();
    return 0;
}
