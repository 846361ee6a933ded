// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/logged_arrivals.h"

#include "requests/completion.h"
#include "requests/had_otherwise.h"

#include <algorithm>
#include <cstring>

namespace cd::logger {
namespace {

// Never destroyed: MPI may be used while the process ends.
HadOtherwise<Blocks> &other_places() {
    static auto &all = *new HadOtherwise<Blocks>;
    return all;
}

bool same_places(const Blocks &some, const Blocks &others) {
    return std::ranges::equal(some, others, [](const Block &one, const Block &other) {
        return one.address == other.address && one.type == other.type;
    });
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
        places = other_places().of(id).value_or(places);
    } else {
        other_places().note(id, request->place, request->arrivals,
                            !same_places(request->arrivals, places));
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
