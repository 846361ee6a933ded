// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost, against the least that they have to do.
#include "kernels.h"

#include "redset/local_exchange.h"
#include "redset/rebuild.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
        std::fprintf(stderr, "cd_bench_redset: %s\n", message());
        std::exit(EXIT_FAILURE);
    }
}

struct Measured {
    double seconds;
    double processor_seconds;
};

template <typename Work> Measured measure(const Work &work) {
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    work();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            processor_seconds() - processor};
}

// What a byte of application data costs at least.
struct Costs {
    double copy;
    double checksum;
    double write;
    double read;
};

class Case {
public:
    Case(const Shape &shape, const fs::path &folder, size_t bytes)
        : set_{shape, 0, 1, shape.members, std::vector<int>(static_cast<size_t>(shape.members))},
          place_{folder.string(), "red/"}, bytes_(bytes) {
        std::iota(set_.ranks.begin(), set_.ranks.end(), 0);
        fs::remove_all(folder);
        fs::create_directories(folder);
        for (int member = 0; member < shape.members; ++member) {
            std::string data(bytes, '\0');
            for (size_t i = 0; i < bytes; ++i) {
                data[i] = static_cast<char>(i * 2654435761U >> 13 ^ static_cast<size_t>(member));
            }
            std::ofstream(folder / name(member), std::ios::binary) << data;
        }
    }
    Case(const Case &) = delete;
    ~Case() { fs::remove_all(place_.folder); }

    Measured encode() {
        return measure([&] {
            must(run_members(set_.shape.members, [&](Exchange &exchange) {
                return apply(exchange, set_, place_, {name(exchange.self())}, {.sync = false});
            }));
        });
    }

    Measured rebuild() {
        for (int member = 0; member < set_.shape.checks; ++member) {
            fs::remove(place_.path(name(member)));
            fs::remove(place_.scheme_file(set_, member));
        }
        return measure([&] {
            must(run_members(set_.shape.members, [&](Exchange &exchange) {
                Survey survey;
                return redset::rebuild(exchange, set_, place_, {.sync = false}, survey);
            }));
        });
    }

    // Reads each byte, takes its checksum, sends it, codes it, and writes and checks the payload.
    double encoding_bound(const Costs &costs) const {
        const double out = outputs_per_byte();
        return costs.read + costs.checksum + costs.copy + coding() +
               out * (costs.write + costs.checksum);
    }

    // As many bytes of data and payload of all members are read for their checksums, and what is
    // left again for what is lost, which is written.
    double rebuilding_bound(const Costs &costs) const {
        const double out = outputs_per_byte();
        const double lost = static_cast<double>(set_.shape.checks) / set_.shape.members;
        return (1 + out) * (1 - lost) * (costs.read + costs.checksum) + costs.read + costs.copy +
               coding() + (1 + out) * lost * (costs.write + costs.checksum);
    }

private:
    static std::string name(int member) { return "data" + std::to_string(member); }

    // Bytes of payload for each byte of data.
    double outputs_per_byte() const {
        const Shape &shape = set_.shape;
        return static_cast<double>(shape.checks) / (shape.members - shape.checks);
    }

    double coding() const {
        const Shape &shape = set_.shape;
        return coding_cost(static_cast<size_t>(shape.members - shape.checks),
                           static_cast<size_t>(shape.checks), shape.scheme == Scheme::xor_set);
    }

    Set set_;
    Place place_;
    size_t bytes_;
};

void print(const char *what, const Shape &shape, const Measured &measured, double bytes,
           double bound) {
    const double per_byte = measured.processor_seconds / bytes;
    std::printf("%-8s %-4s k=%d of %d   %7.2f GB/s   %6.3f s/GB   bound %6.3f   reached %4.2f\n",
                what, scheme_name(shape.scheme), shape.checks, shape.members,
                bytes / measured.seconds * 1e-9, per_byte * 1e9, bound * 1e9, bound / per_byte);
}

size_t number(const char *text) {
    const size_t value = std::strtoul(text, nullptr, 10);
    if (value == 0) {
        std::fprintf(stderr, "cd_bench_redset: %s is no number of MiB\n", text);
        std::exit(2);
    }
    return value;
}

} // namespace

int main(int argc, char **argv) {
    size_t mib = 64;
    std::string folder = "/dev/shm";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--mib") == 0 && i + 1 < argc) {
            mib = number(argv[++i]);
        } else if (std::strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else {
            std::fprintf(stderr, "usage: cd_bench_redset [--mib N] [--folder DIR]\n");
            return 2;
        }
    }
    const size_t bytes = mib << 20;
    const Costs costs{copy_cost(), checksum_cost(), write_cost(folder.c_str(), bytes),
                      read_cost(folder.c_str(), bytes)};
    const auto rate = [](const char *what, double cost) {
        std::printf("%-32s %7.1f GB/s\n", what, 1e-9 / cost);
    };
    rate("memcpy, 128 KiB", costs.copy);
    rate("CRC-32C, 128 KiB", costs.checksum);
    rate("xor_gen, 3 sources", coding_cost(3, 1, true));
    rate("xor_gen, 7 sources", coding_cost(7, 1, true));
    rate("ec_encode_data, 2 of 2 sources", coding_cost(2, 2, false));
    rate("ec_encode_data, 2 of 6 sources", coding_cost(6, 2, false));
    rate("write to the folder", costs.write);
    rate("read from the folder", costs.read);

    const std::string own = folder + "/cd-bench-redset." + std::to_string(::getpid());
    for (const int members : {4, 8}) {
        for (const Shape &shape :
             {Shape{Scheme::xor_set, members, 1}, Shape{Scheme::reed_solomon, members, 1},
              Shape{Scheme::reed_solomon, members, 2}, Shape{Scheme::reed_solomon, members, 3}}) {
            Case example(shape, own, bytes);
            const auto all = static_cast<double>(bytes) * members;
            print("encode", shape, example.encode(), all, example.encoding_bound(costs));
            print("rebuild", shape, example.rebuild(), all, example.rebuilding_bound(costs));
        }
    }
    return 0;
}
