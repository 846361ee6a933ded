// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/logged_arrivals.h"

#include "lifetimes/lifetimes.h"
#include "requests/completion.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

// Where a re-execution has what the log has elsewhere, by the numbers of the requests' starts: a
// CD that began in between may be restored, and its memory lies there.
struct MovedArrivals {
    std::mutex mutex;
    std::unordered_map<uint64_t, Blocks> of_starts;
};
std::atomic<size_t> moved_count = 0;

// Never destroyed: MPI may be used while the process ends.
MovedArrivals &moved() {
    static auto &all = *new MovedArrivals;
    return all;
}

bool same_places(const Blocks &some, const Blocks &others) {
    return std::ranges::equal(some, others, [](const Block &one, const Block &other) {
        return one.address == other.address && one.type == other.type;
    });
}

void forget_moved(uint64_t id) {
    const std::scoped_lock lock(moved().mutex);
    moved().of_starts.erase(id);
    moved_count = moved().of_starts.size();
}

void note_places(uint64_t id, const Blocks &arrivals, const Blocks &recorded) {
    const bool are_recorded = same_places(arrivals, recorded);
    if (id == 0 || (are_recorded && moved_count == 0)) {
        return;
    }
    if (are_recorded) {
        forget_moved(id);
        return;
    }
    if (const std::optional<cd_log_place> place = last_entry()) {
        when_forgotten(*place, [id] { forget_moved(id); });
        const std::scoped_lock lock(moved().mutex);
        moved().of_starts.insert_or_assign(id, arrivals);
        moved_count = moved().of_starts.size();
    }
}

void find_places(uint64_t id, Blocks &places) {
    if (id == 0 || moved_count == 0) {
        return;
    }
    const std::scoped_lock lock(moved().mutex);
    if (const auto found = moved().of_starts.find(id); found != moved().of_starts.end()) {
        places = found->second;
    }
}

} // namespace

void add_arrivals(EntryWriter &writer, const Request &request, const MPI_Status &status,
                  int result) {
    writer.add(request.arrivals.data(), sizeof(Block) * request.arrivals.size());
    writer.add_data(request.arrivals, bytes_brought(request, status, result));
}

bool take_arrivals(EntryReader &entry, uint64_t id, const Request *request, size_t blocks) {
    Blocks places(blocks);
    const size_t size = sizeof(Block) * blocks;
    const std::byte *const recorded = entry.take(size);
    if (size > 0) {
        std::memcpy(static_cast<void *>(places.data()), recorded, size);
    }
    if (request == nullptr) {
        find_places(id, places);
    } else {
        note_places(id, request->arrivals, places);
        places = request->arrivals;
    }
    return places.size() == blocks && entry.take_data(places);
}

void skip_arrivals(EntryReader &entry, size_t blocks) {
    entry.take(sizeof(Block) * blocks);
    for (; blocks > 0; --blocks) {
        entry.take(entry.take<uint64_t>());
    }
}

} // namespace cd::logger
