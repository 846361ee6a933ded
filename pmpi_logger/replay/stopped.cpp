// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/stopped.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

struct Stop {
    uint64_t entry; // that is never read
    bool told = false;
};

struct Stops {
    std::mutex mutex;
    std::unordered_map<uint64_t, Stop> of_streams;
};
std::atomic<size_t> count = 0;

// Never destroyed: MPI may be used while the process ends.
Stops &stops() {
    static auto &all = *new Stops;
    return all;
}

// nullptr if the log has gone on. Locked by the caller.
Stop *stop_here() {
    cd_log_place here = {};
    if (cd_log_here(&here) == 0) {
        return nullptr;
    }
    const auto found = stops().of_streams.find(here.stream);
    return found != stops().of_streams.end() && found->second.entry == here.entry ? &found->second
                                                                                  : nullptr;
}

} // namespace

void StoppedReplays::stop() {
    cd_log_place here = {};
    if (cd_log_here(&here) != 0) {
        const std::scoped_lock lock(stops().mutex);
        stops().of_streams.insert_or_assign(here.stream, Stop{here.entry});
        count = stops().of_streams.size();
    }
}

bool StoppedReplays::is_stopped() {
    if (count == 0) [[likely]] {
        return false;
    }
    const std::scoped_lock lock(stops().mutex);
    return stop_here() != nullptr;
}

bool StoppedReplays::is_to_be_told() {
    const std::scoped_lock lock(stops().mutex);
    Stop *const stop = stop_here();
    const bool first = stop != nullptr && !stop->told;
    if (first) {
        stop->told = true;
    }
    return first;
}

void StoppedReplays::begun_anew(const Reach &reach) {
    if (count == 0) {
        return;
    }
    const std::scoped_lock lock(stops().mutex);
    std::erase_if(stops().of_streams, [&](const auto &stop) {
        return reach.covers({0, stop.first, stop.second.entry});
    });
    count = stops().of_streams.size();
}

} // namespace cd::logger
