// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What the logger costs, on two ranks. Each round of a case measures the same calls past the logger
// and through it, one after the other, so that all see the same state of the machine. Writes JSON
// on standard output; bench/mpi/report.py makes a table of it.

#include "cd/cd.h"
#include "mpi/calls.h"
#include "mpi/cases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

int rank = 0;

void must(bool good, const char *call) {
    if (!good) {
        std::fprintf(stderr, "cd_bench: %s: %s\n", call, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

class Times {
public:
    void add(double seconds) { nanoseconds_.push_back(seconds * 1e9); }
    double least() const { return *std::min_element(nanoseconds_.begin(), nanoseconds_.end()); }
    double median() const {
        std::vector<double> sorted = nanoseconds_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
    }

private:
    std::vector<double> nanoseconds_;
};

void print(const Case &about, const char *mode, const Times &times) {
    if (rank == 0) {
        std::printf(R"({"case": "%s", "unit": "%s", "mode": "%s", "min": %.3f, "median": %.3f})"
                    "\n",
                    about.name.c_str(), about.unit.c_str(), mode, times.least() / about.units,
                    times.median() / about.units);
    }
}

class Bench {
public:
    Bench(Case &about, bool quick) : case_(about), rounds_(quick ? 2 : about.rounds) {}

    void run() {
        without_domain();
        with_domain();
    }

    // Samples until the log is long, then its replay; those at the beginning against those at the
    // end. Memory that was in the caches makes the very first ones faster.
    void run_without_advance() {
        constexpr int ends = 50;
        constexpr int samples = 400;
        int error = 0;
        const cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "long", &error);
        must(cd != nullptr, "create_cd");
        for (const Way way : {Way::through, Way::replay}) {
            Times first;
            Times last;
            for (int i = 0; i < samples; ++i) {
                const double took = seconds(way);
                if (i >= ends && i < 2 * ends) {
                    first.add(took);
                } else if (i >= samples - ends) {
                    last.add(took);
                }
            }
            print(case_, way == Way::replay ? "replay, short log" : "logging, short log", first);
            print(case_, way == Way::replay ? "replay, long log" : "logging, long log", last);
            if (way == Way::through) {
                must(restore_cd(cd) == SUCCESS, "restore_cd");
            }
        }
        must(commit_cd(cd) == SUCCESS, "commit_cd");
    }

private:
    enum class Way { past, past_empty, past_and_copied, through, replay };

    // All ranks begin together; the clock of rank 0 counts.
    double seconds(Way way) {
        past_.barrier(MPI_COMM_WORLD);
        const auto start = std::chrono::steady_clock::now();
        const Calls &measured = way == Way::past              ? past_
                                : way == Way::past_empty      ? empty_
                                : way == Way::past_and_copied ? copied_
                                                              : through_;
        case_.sample(measured, past_, way == Way::replay);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    void without_domain() {
        Times bare;
        Times empty;
        Times idle;
        seconds(Way::past);
        for (int i = 0; i < rounds_; ++i) {
            bare.add(seconds(Way::past));
            empty.add(seconds(Way::past_empty));
            idle.add(seconds(Way::through));
        }
        print(case_, "bare", bare);
        print(case_, "empty wrapper", empty);
        print(case_, "no active CD", idle);
    }

    void with_domain() {
        Times bare;
        Times copied;
        Times logging;
        Times replay;
        Times copies;
        Times copy;
        int error = 0;
        const cd_handle cd = create_cd(nullptr, nullptr, COMM_LOGGING_ENABLED, "bench", &error);
        must(cd != nullptr, "create_cd");
        for (int i = -1; i < rounds_; ++i) {
            const double past = seconds(Way::past);
            const double past_and_copied = seconds(Way::past_and_copied);
            const double copying = seconds_of_copy_of_what_came() * case_.units;
            keep_state(cd);
            const double through = seconds(Way::through);
            must(restore_cd(cd) == SUCCESS, "restore_cd");
            const double again = seconds(Way::replay);
            must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
            forget_state(cd);
            if (i >= 0) { // the first round only warms up
                bare.add(past);
                copied.add(past_and_copied);
                copies.add(copying);
                logging.add(through);
                replay.add(again);
                copy.add(seconds_of_copy());
            }
        }
        must(commit_cd(cd) == SUCCESS, "commit_cd");
        print(case_, "bare beside logging", bare);
        print(case_, "bare and copied", copied);
        print(case_, "logging", logging);
        print(case_, "replay", replay);
        print(case_, "memcpy of what came", copies);
        print(case_, "memcpy of 1 MiB", copy);
    }

    cd_addrspec state() const { return {case_.state(), case_.state_size(), READ_WRITE, GLOBAL}; }
    void keep_state(cd_handle cd) const {
        const cd_addrspec kept = state();
        must(add_to_cd_via_copy(cd, &kept, 1) == SUCCESS, "add_to_cd_via_copy");
    }
    // What runs past the logger changes it without telling.
    void forget_state(cd_handle cd) const {
        const cd_addrspec kept = state();
        must(delete_from_cd(cd, &kept, 1) == SUCCESS, "delete_from_cd");
    }

    // Between two places that nothing else touches, as often as there are units.
    double seconds_of_copy() const {
        static std::vector<char> from(size_t{1} << 20);
        static std::vector<char> to(size_t{1} << 20);
        std::memcpy(to.data(), from.data(), from.size());
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < case_.units && i < 8; ++i) {
            std::memcpy(to.data(), from.data(), from.size());
            asm volatile("" : : "r"(to.data()) : "memory");
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        return took.count() * case_.units / std::min(case_.units, 8);
    }

    Case &case_;
    const int rounds_;
    const Calls past_ = past_logger();
    const Calls empty_ = past_empty_wrappers();
    const Calls copied_ = past_logger_and_copied();
    const Calls through_ = through_logger();
};

} // namespace

// Arguments: the names of cases; without any, all.
int main(int argc, char **argv) {
    // What is measured then means nothing; a test sees that everything runs.
    const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::unique_ptr<Case> cases[] = {
        std::make_unique<CommRank>(),
        std::make_unique<PingPong>("8-byte ping-pong", 8, 500, 401),
        std::make_unique<PingPong>("1 MiB ping-pong", size_t{1} << 20, 2, 201),
        std::make_unique<Receive>("1 MiB receive", size_t{1} << 20, 4, 201),
        std::make_unique<Exchange>(),
        std::make_unique<Allreduce>(),
        std::make_unique<Stencil>(),
    };
    const auto is_wanted = [&](const Case &each) {
        return quick || argc == 1 || std::find(argv + 1, argv + argc, each.name) != argv + argc;
    };
    for (const auto &each : cases) {
        if (is_wanted(*each)) {
            Bench(*each, quick).run();
        }
    }
    if (Allreduce many; is_wanted(many)) {
        Bench(many, quick).run_without_advance();
    }
    MPI_Finalize();
}
