// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What is paid per call: the MPI log's entries, and an observer.
#include "cd/mpi_log.h"
#include "domains.h"
#include "measure.h"

namespace {

constexpr size_t logged = 100'000;
constexpr int64_t observed_rounds = 51;

void append_all(const Root &root) {
    const uint64_t payload = 1;
    const cd_log_part part = {&payload, sizeof payload};
    for (size_t i = 0; i < logged; ++i) {
        must(cd_log_append(root.handle(), &part, 1));
    }
}

void append_to_log(benchmark::State &state) {
    const Root root("bench", nullptr, COMM_LOGGING_ENABLED);
    measure_each(
        state, logged, nothing, [&] { append_all(root); },
        [&] { must(delete_MPI_log_from_cd(root.handle())); });
}

void replay_log(benchmark::State &state) {
    const Root root("bench", nullptr, COMM_LOGGING_ENABLED);
    append_all(root);
    measure_each(
        state, logged, [&] { must(restore_cd(root.handle())); },
        [&] {
            size_t length = 0;
            while (cd_log_next(root.handle(), &length, nullptr) != nullptr) {
            }
            must(cd_last_error() == CD_ERROR_NONE);
        },
        nothing);
}

void count_bytes(const cd_event *event, void *context) {
    *static_cast<size_t *>(context) += event->bytes;
}

// The cheapest call there is, without and with an observer.
void observe(benchmark::State &state) {
    constexpr int calls = 10'000;
    uint64_t value = 0;
    const cd_addrspec range = {&value, sizeof value, READ_WRITE, GLOBAL};
    const Root root;
    const auto re_add = [&] {
        for (int i = 0; i < calls; ++i) {
            must(add_to_cd_via_copy(root.handle(), &range, 1, nullptr));
        }
    };
    size_t bytes = 0;
    Samples off;
    Samples on;
    for (auto _ : state) {
        off.add(seconds(re_add));
        must(cd_observe(count_bytes, &bytes));
        on.add(seconds(re_add));
        must(cd_observe(nullptr, nullptr));
        state.SetIterationTime(1e-9);
    }
    state.counters["off_ns"] = off.best() * 1e9 / calls;
    state.counters["on_ns"] = on.best() * 1e9 / calls;
}

} // namespace

void register_overheads() {
    register_case("log/append 8 bytes", observed_rounds, append_to_log);
    register_case("log/replay 8 bytes", observed_rounds, replay_log);
    register_case("observer/re-add of one entry", observed_rounds, observe);
}
