// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "members.h"

#include "kernels.h"

#include "redset/encode.h"
#include "redset/pipeline.h"
#include "redset/rebuild.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

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

// Waits for all.
double sum_over_members(Exchange &exchange, double own) {
    std::vector<Bytes> all;
    must(exchange.gather(std::as_bytes(std::span(&own, 1)), all));
    return std::accumulate(all.begin(), all.end(), 0.0, [](double sum, const Bytes &bytes) {
        double value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return sum + value;
    });
}

void wait_for_all(Exchange &exchange) { sum_over_members(exchange, 0); }

// That of its first process: another run at the same time has another one.
std::string number_of_run(Exchange &exchange) {
    const double first = exchange.self() == 0 ? static_cast<double>(::getpid()) : 0;
    return std::to_string(static_cast<long>(sum_over_members(exchange, first)));
}

// From when all begin until the last has ended.
template <typename Work>
Measured measure(Exchange &exchange, const Workplace &workplace, const Work &work) {
    wait_for_all(exchange);
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds(workplace.clock);
    work();
    const double own = processor_seconds(workplace.clock) - processor;
    const double all = sum_over_members(exchange, own);
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), all};
}

// A member's part of a set, which has a file of each member.
class Case {
public:
    Case(Exchange &exchange, const Workplace &workplace, const Coding &coding)
        : exchange_(exchange),
          workplace_(workplace), set_{coding, 0, 1, coding.members,
                                      std::vector<int>(static_cast<size_t>(coding.members))},
          place_{workplace.folder + "/cd-bench-redset." + number_of_run(exchange), "red/"},
          name_("data" + std::to_string(exchange.self())) {
        std::iota(set_.ranks.begin(), set_.ranks.end(), 0);
        fs::create_directories(place_.folder);
        write_file(name_, workplace_.bytes);
        use_memory_of_payload();
    }
    Case(const Case &) = delete;
    ~Case() {
        wait_for_all(exchange_);
        std::error_code none;
        if (exchange_.self() == 0) {
            fs::remove_all(place_.folder, none);
        }
        wait_for_all(exchange_);
    }

    Measured encode() {
        return measure(exchange_, workplace_,
                       [&] { must(apply(exchange_, set_, place_, {name_}, {.sync = false})); });
    }

    Measured rebuild() {
        if (exchange_.self() < set_.coding.checks) {
            fs::remove(place_.path(name_));
            fs::remove(place_.scheme_file(set_, exchange_.self()));
        }
        return measure(exchange_, workplace_, [&] {
            Survey survey;
            must(redset::rebuild(exchange_, set_, place_, {.sync = false}, survey));
        });
    }

private:
    // The host of a virtual machine gives it a page of memory at the first write, which then takes
    // several times as long; and the largest payload would be the first to need as many.
    void use_memory_of_payload() const {
        const auto checks = static_cast<size_t>(set_.coding.checks);
        const auto data = static_cast<size_t>(set_.coding.members) - checks;
        const std::string name = name_ + ".payload";
        write_file(name, workplace_.bytes * checks / data);
        wait_for_all(exchange_); // none of them gets what another one gives back
        fs::remove(place_.path(name));
        wait_for_all(exchange_);
    }

    void write_file(const std::string &name, size_t bytes) const {
        std::vector<char> data(std::min(bytes, size_t{1} << 20));
        for (size_t i = 0; i < data.size(); ++i) {
            data[i] =
                static_cast<char>(i * 2654435761U >> 13 ^ static_cast<size_t>(exchange_.self()));
        }
        std::ofstream file(place_.path(name), std::ios::binary);
        for (size_t at = 0; at < bytes; at += data.size()) {
            file.write(data.data(), static_cast<std::streamsize>(data.size()));
        }
    }

    Exchange &exchange_;
    const Workplace &workplace_;
    Set set_;
    Place place_;
    std::string name_;
};

} // namespace

double sending_cost(Exchange &exchange, const Workplace &workplace) {
    constexpr size_t piece = size_t{128} << 10;
    const auto others = static_cast<size_t>(exchange.members() - 1);
    const AlignedBuffer memory = make_aligned_buffer(2 * others * piece);
    std::memset(memory.get(), 1, 2 * others * piece);
    std::vector<Exchange::Message> outgoing;
    std::vector<Exchange::Message> incoming;
    for (int peer = 0; peer < exchange.members(); ++peer) {
        if (peer != exchange.self()) {
            std::byte *at = memory.get() + 2 * outgoing.size() * piece;
            outgoing.push_back({peer, {at, piece}});
            incoming.push_back({peer, {at + piece, piece}});
        }
    }
    exchange.reserve(others);
    const size_t rounds = std::max<size_t>(workplace.bytes / (others * piece), 1);
    double best = 1;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const Measured measured = measure(exchange, workplace, [&] {
            for (size_t round = 0; round < rounds; ++round) {
                must(exchange.start(outgoing, incoming));
                must(exchange.finish());
            }
        });
        const size_t sent = rounds * others * piece * static_cast<size_t>(exchange.members());
        best = std::min(best, measured.processor_seconds / static_cast<double>(sent));
    }
    return best;
}

void run_cases(Exchange &exchange, const Workplace &workplace, const Costs &costs) {
    const int members = exchange.members();
    std::vector<Coding> codings{{Scheme::xor_set, members, 1}};
    for (int checks = 1; checks < members && checks <= 3; ++checks) {
        codings.push_back({Scheme::reed_solomon, members, checks});
    }
    for (const Coding &coding : codings) {
        Case example(exchange, workplace, coding);
        const auto print = [&](const char *what, const Measured &measured, const Passes &passes) {
            if (exchange.self() == 0) {
                print_result(what, coding, static_cast<double>(workplace.bytes) * members, measured,
                             passes, costs);
            }
        };
        print("encode", example.encode(), encoding_passes(coding));
        print("rebuild", example.rebuild(), rebuilding_passes(coding));
    }
}
