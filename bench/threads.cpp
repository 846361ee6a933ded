// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Two threads that each work on a CD of their own, against one: independent CDs should not slow
// each other down more than the machine's memory does.
#include "measure.h"
#include "shapes.h"

#include <array>
#include <barrier>
#include <memory>
#include <thread>

namespace {

constexpr double target_of_two = 0.95;

// From the moment when all threads are ready until the last one is done.
template <typename Job> double seconds_in_threads(size_t count, const Job &job) {
    using Clock = std::chrono::steady_clock;
    std::barrier ready(static_cast<std::ptrdiff_t>(count));
    std::array<Clock::time_point, 2> starts;
    std::array<Clock::time_point, 2> ends;
    const auto run = [&](size_t index) {
        const auto work = job(index);
        ready.arrive_and_wait();
        starts[index] = Clock::now();
        work();
        ends[index] = Clock::now();
        ready.arrive_and_wait(); // nobody cleans up while another one is still measured
    };
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i) {
        threads.emplace_back(run, i);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.begin() + count) -
                                         *std::min_element(starts.begin(), starts.begin() + count))
        .count();
}

struct Seconds {
    double alone;
    double of_two;

    // How much more work two threads do than one in the same time: 2 is ideal.
    double speedup() const { return 2 * alone / of_two; }
};

template <typename Job> Seconds measure_threads(const Job &job) {
    return {seconds_in_threads(1, job), seconds_in_threads(2, job)};
}

constexpr size_t size_mib = 64;
constexpr int repetitions = 4;

std::byte *part(const Memory &memory, size_t index) { return memory.at(index * size_mib * mib); }

void copy_parts(benchmark::State &state) {
    const auto copying = [](size_t index) {
        return [=] {
            for (int i = 0; i < repetitions; ++i) {
                std::memcpy(part(stage().copy, index), part(stage().application, index),
                            size_mib * mib);
            }
        };
    };
    const auto advancing = [](size_t index) {
        const auto root = std::make_shared<Root>(index == 0 ? "first" : "second");
        const List list = {{part(stage().application, index), size_mib * mib, READ_WRITE, GLOBAL}};
        auto advance = [=] {
            for (int i = 0; i < repetitions; ++i) {
                add(root->handle(), list);
                must(advance_cd_point_in_time(root->handle()));
            }
        };
        advance();
        return advance;
    };
    Samples memcpys;
    Samples advances;
    Samples ratios;
    for (auto _ : state) {
        const Seconds memcpy = measure_threads(copying);
        const Seconds advance = measure_threads(advancing);
        memcpys.add(memcpy.speedup());
        advances.add(advance.speedup());
        ratios.add(memcpy.of_two / advance.of_two);
        state.SetIterationTime(1e-9); // the speedups count
    }
    state.counters["memcpy_speedup"] = memcpys.median();
    state.counters["speedup"] = advances.median();
    state.counters["ratio"] = ratios.median();
    set_target(state, target_of_two);
}

// Small entries: the heap, the index and the registry are what threads could wait for.
void small_entries(benchmark::State &state) {
    constexpr size_t count = 10'000;
    constexpr int cycles = 10;
    const auto cycling = [](size_t index) {
        List list;
        for (size_t i = 0; i < count; ++i) {
            list.push_back({part(stage().application, index) + i * 16, 8, READ_WRITE, GLOBAL});
        }
        auto cycle = [=] {
            for (int i = 0; i < cycles; ++i) {
                const Root root(index == 0 ? "first" : "second");
                add(root.handle(), list);
                must(advance_cd_point_in_time(root.handle()));
                must(restore_cd(root.handle()));
            }
        };
        cycle();
        return cycle;
    };
    Samples speedups;
    for (auto _ : state) {
        speedups.add(measure_threads(cycling).speedup());
        state.SetIterationTime(1e-9);
    }
    state.counters["speedup"] = speedups.median();
}

} // namespace

void register_threads() {
    register_case("two threads/advance, 64 MiB each", 11, copy_parts);
    register_case("two threads/10,000 entries of 8 bytes each", 11, small_entries);
}
