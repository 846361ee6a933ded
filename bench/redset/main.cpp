// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What encoding and rebuilding cost, against the least that they have to do.
#include "bounds.h"
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

private:
    static std::string name(int member) { return "data" + std::to_string(member); }

    Set set_;
    Place place_;
    size_t bytes_;
};

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
    const Costs costs = Costs::measure(folder, bytes);
    const std::string own = folder + "/cd-bench-redset." + std::to_string(::getpid());
    for (const int members : {4, 8}) {
        for (const Shape &shape :
             {Shape{Scheme::xor_set, members, 1}, Shape{Scheme::reed_solomon, members, 1},
              Shape{Scheme::reed_solomon, members, 2}, Shape{Scheme::reed_solomon, members, 3}}) {
            Case example(shape, own, bytes);
            const auto all = static_cast<double>(bytes) * members;
            const auto print = [&](const char *what, const Measured &measured,
                                   const Passes &passes) {
                print_result(what, shape, all, measured.seconds, measured.processor_seconds, passes,
                             costs);
            };
            print("encode", example.encode(), encoding_passes(shape));
            print("rebuild", example.rebuild(), rebuilding_passes(shape));
        }
    }
    return 0;
}
