// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// How everything here is measured: one operation at a time, by the clock, many times over. Of
// ratios the median counts; of times the best, since whatever else the machine does only ever adds
// to them.

template <typename Work> double seconds(const Work &work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Samples {
public:
    void add(double sample) { samples_.push_back(sample); }

    double median() const {
        std::vector<double> sorted = samples_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
    }

    double best() const { return *std::min_element(samples_.begin(), samples_.end()); }

private:
    std::vector<double> samples_;
};

inline void nothing() {}

// Ratios: operation against reference, which does the same work as fast as the machine can. They
// take turns, so that each finds the caches as the other has left them. ratio: 1 means as fast as
// the reference, 0.5 half as fast.
template <typename Reference, typename Prepare, typename Operation, typename Cleanup>
void measure_ratio(benchmark::State &state, const Reference &reference, const Prepare &prepare,
                   const Operation &operation, const Cleanup &cleanup) {
    Samples ratios;
    for (auto _ : state) {
        const double reference_took = seconds(reference);
        prepare();
        const double took = seconds(operation);
        cleanup();
        state.SetIterationTime(took);
        ratios.add(reference_took / took);
    }
    state.counters["ratio"] = ratios.median();
}

// Times: nanoseconds for each of the count things that operation does.
template <typename Prepare, typename Operation, typename Cleanup>
void measure_each(benchmark::State &state, size_t count, const Prepare &prepare,
                  const Operation &operation, const Cleanup &cleanup) {
    Samples times;
    for (auto _ : state) {
        prepare();
        const double took = seconds(operation);
        cleanup();
        state.SetIterationTime(took);
        times.add(took);
    }
    state.counters["ns"] = times.best() * 1e9 / static_cast<double>(count);
}

// What the report compares with; a case without a target is information.
inline void set_target(benchmark::State &state, double target) {
    state.counters["target"] = target;
}

template <typename Body>
void register_case(const std::string &name, int64_t rounds, const Body &body) {
    benchmark::RegisterBenchmark(name.c_str(), body)
        ->Iterations(rounds)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}
