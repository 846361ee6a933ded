// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/logged_arrivals.h"

#include "objects/lifetimes.h"
#include "requests/completion.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cd::logger {
namespace {

// By the numbers of the starts. Never destroyed: MPI may be used while the process ends.
struct AllReexecuted {
    std::mutex mutex;
    std::unordered_map<uint64_t, Reexecuted> of_starts;
};
AllReexecuted &reexecuted() {
    static auto &all = *new AllReexecuted;
    return all;
}

bool same_places(const Blocks &some, const Blocks &others) {
    return std::ranges::equal(some, others, [](const Block &one, const Block &other) {
        return one.address == other.address && one.type == other.type;
    });
}

} // namespace

void note_reexecuted(const Request &request, uint64_t id, bool differs) {
    const std::optional<cd_log_place> end = differs && id != 0 ? last_entry() : std::nullopt;
    const bool may_end_alone = end && cd_log_parts(&request.place, &*end) != 0;
    {
        const std::scoped_lock lock(reexecuted().mutex);
        const auto known = reexecuted().of_starts.find(id);
        if (known != reexecuted().of_starts.end()) {
            known->second = {request.handle, request.arrivals};
            return;
        }
        if (!may_end_alone) {
            return;
        }
        reexecuted().of_starts[id] = {request.handle, request.arrivals};
    }
    when_forgotten(*end, [id] {
        const std::scoped_lock lock(reexecuted().mutex);
        reexecuted().of_starts.erase(id);
    });
}

std::optional<Reexecuted> find_reexecuted(uint64_t id) {
    const std::scoped_lock lock(reexecuted().mutex);
    const auto known = reexecuted().of_starts.find(id);
    return known != reexecuted().of_starts.end() ? std::optional(known->second) : std::nullopt;
}

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
        if (std::optional<Reexecuted> known = find_reexecuted(id)) {
            places = std::move(known->arrivals);
        }
    } else {
        note_reexecuted(*request, id, !same_places(request->arrivals, places));
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
