// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost over MPI: every rank has a file, and all are one set. Each step
// is beside what it has to do at least, measured in the same run.
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

double sum_over_ranks(double value) {
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

class Case {
public:
    Case(const Shape &shape, const fs::path &folder, size_t bytes, mpi::MpiExchange &exchange)
        : set_{shape, 0, 1, shape.members, std::vector<int>(static_cast<size_t>(shape.members))},
          place_{folder.string(), "red/"}, name_("data" + std::to_string(exchange.self())),
          bytes_(bytes), exchange_(exchange) {
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
        MPI_Barrier(MPI_COMM_WORLD);
        std::error_code none;
        fs::remove_all(place_.folder, none);
        MPI_Barrier(MPI_COMM_WORLD);
    }

    void encode() {
        print("encode", [&] { must(apply(exchange_, set_, place_, {name_}, {.sync = false})); });
    }

    void rebuild() {
        if (exchange_.self() < set_.shape.checks) {
            fs::remove(place_.path(name_));
            fs::remove(place_.scheme_file(set_, exchange_.self()));
        }
        print("rebuild", [&] {
            Survey survey;
            must(redset::rebuild(exchange_, set_, place_, {.sync = false}, survey));
        });
    }

private:
    template <typename Work> void print(const char *what, const Work &work) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const double processor = processor_seconds();
        work();
        const double used = sum_over_ranks(processor_seconds() - processor);
        MPI_Barrier(MPI_COMM_WORLD);
        const double seconds = MPI_Wtime() - start;
        const Shape &shape = set_.shape;
        const double bytes = static_cast<double>(bytes_) * shape.members;
        if (exchange_.self() == 0) {
            std::printf("%-8s %-4s k=%d of %d   %7.2f GB/s   %6.3f processor seconds per GB\n",
                        what, scheme_name(shape.scheme), shape.checks, shape.members,
                        bytes / seconds * 1e-9, used / bytes * 1e9);
        }
    }

    Set set_;
    Place place_;
    std::string name_;
    size_t bytes_;
    mpi::MpiExchange &exchange_;
};

void print_costs(const std::string &folder, size_t bytes) {
    const auto rate = [](const char *what, double cost) {
        std::printf("%-32s %7.1f GB/s\n", what, 1e-9 / cost);
    };
    rate("memcpy, 128 KiB", copy_cost());
    rate("CRC-32C, 128 KiB", checksum_cost());
    rate("xor_gen, 3 sources", coding_cost(3, 1, true));
    rate("ec_encode_data, 2 of 2 sources", coding_cost(2, 2, false));
    rate("write to the folder", write_cost(folder.c_str(), bytes));
    rate("read from the folder", read_cost(folder.c_str(), bytes));
}

void run(size_t bytes, const std::string &folder) {
    mpi::Communicator communicator;
    must(mpi::Communicator::duplicate(MPI_COMM_WORLD, communicator));
    mpi::MpiExchange exchange(communicator);
    if (exchange.self() == 0) {
        print_costs(folder, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const int members = exchange.members();
    std::vector<Shape> shapes{{Scheme::xor_set, members, 1}};
    for (int checks = 1; checks < members && checks <= 3; ++checks) {
        shapes.push_back({Scheme::reed_solomon, members, checks});
    }
    for (const Shape &shape : shapes) {
        Case example(shape, folder + "/cd-bench-redset-mpi", bytes, exchange);
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
