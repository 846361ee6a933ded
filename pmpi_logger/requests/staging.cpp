// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/staging.h"

#include "payload/datatype_cache.h"
#include "payload/pack.h"
#include "requests/send_copy.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

void append(Blocks &all, const Blocks &more) { all.insert(all.end(), more.begin(), more.end()); }

// Returns the blocks of the receive buffer from which a call sends (MPI_IN_PLACE).
Blocks sent_in_place(const Call &call) {
    Arguments a = call.arguments;
    a.send_buf = a.recv_buf;
    a.send_count = a.recv_count;
    a.send_counts = a.recv_counts;
    a.send_displs = a.recv_displs;
    a.send_type = a.recv_type;
    a.send_types = a.recv_types;
    Blocks blocks;
    call.arrival->received(a, blocks);
    call.arrival->sent(a, blocks);
    return blocks;
}

} // namespace

bool Copy::reserve_room(const Blocks &blocks) {
    uintptr_t begin = UINTPTR_MAX;
    uintptr_t end = 0;
    uint64_t data = 0;
    for (const Block &block : blocks) {
        const size_t bytes = bytes_in(block);
        if (bytes == 0) {
            continue;
        }
        const DatatypeFacts facts = facts_of(block.type);
        const auto first =
            reinterpret_cast<uintptr_t>(block.address) + static_cast<uintptr_t>(facts.lower_bound);
        begin = std::min(begin, first);
        end = std::max(end, first + static_cast<uintptr_t>(facts.span_of(block.count)));
        data += bytes;
    }
    if (data == 0) {
        return true;
    }
    if (end - begin > 2 * data + uint64_t{widest_spread}) {
        return false;
    }
    memory_.reset(new (std::nothrow) std::byte[end - begin]);
    begin_ = begin;
    return memory_ != nullptr;
}

void *Copy::place_of(const void *address) const {
    // The result may lie before the memory if the data of a type lie behind its address.
    const auto begin = reinterpret_cast<uintptr_t>(memory_.get());
    return reinterpret_cast<void *>(begin + (reinterpret_cast<uintptr_t>(address) - begin_));
}

Blocks Copy::places_of(const Blocks &blocks) const {
    Blocks places = blocks;
    for (Block &block : places) {
        block.address = place_of(block.address);
    }
    return places;
}

void Staging::add_sources(const Call &call, bool has_send_buf, Blocks &sent, Blocks &in_place) {
    if (call.arguments.send_buf == MPI_IN_PLACE) {
        in_place = sent_in_place(call);
    } else {
        call.arrival->sent(call.arguments, has_send_buf ? sent : in_place);
    }
}

Staging Staging::of(const Call &call, bool has_send_buf, const Block &made, bool knows_size) {
    Blocks arrivals;
    call.arrival->received(call.arguments, arrivals);
    if (made.count > 0) {
        arrivals.push_back(made);
    }
    Blocks sent;
    Blocks in_place;
    add_sources(call, has_send_buf, sent, in_place);
    if (!knows_size) {
        append(in_place, arrivals);
    }
    return of(sent, in_place, arrivals);
}

Staging Staging::of(const Blocks &sent, const Blocks &in_place, const Blocks &arrivals) {
    Staging staging;
    Blocks received = arrivals;
    append(received, in_place);
    if (!staging.sent_.reserve_room(sent) || !staging.received_.reserve_room(received)) {
        return {};
    }
    if (!staging.sent_.empty()) {
        staging.places = staging.sent_.places_of(sent);
        staging.sources = sent;
    }
    if (!staging.received_.empty()) {
        append(staging.places, staging.received_.places_of(in_place));
        append(staging.sources, in_place);
        staging.landed = staging.received_.places_of(arrivals);
    }
    staging.refill();
    staging.complete_ = true;
    return staging;
}

const void *Staging::keep_bytes(const void *array, size_t size) {
    std::unique_ptr<std::byte[]> copy(size > 0 ? new (std::nothrow) std::byte[size] : nullptr);
    if (copy == nullptr) {
        return array;
    }
    std::memcpy(copy.get(), array, size);
    arrays_.push_back(std::move(copy));
    return arrays_.back().get();
}

void Staging::refill() const {
    for (size_t i = 0; i < sources.size(); ++i) {
        copy_data(sources[i], places[i]);
    }
}

void Staging::refill(int part, int partitions) const {
    if (!sources.empty()) {
        copy_data(part_of(sources.front(), part, partitions),
                  part_of(places.front(), part, partitions));
    }
}

void Staging::follow(const Call &call, bool has_send_buf) {
    Blocks sent;
    Blocks in_place;
    add_sources(call, has_send_buf, sent, in_place);
    if (sent_.empty()) {
        sent.clear();
    }
    append(sent, in_place);
    if (sent.size() == places.size()) {
        sources = std::move(sent);
    }
}

const void *Staging::send_buf(const void *programs) const {
    return sent_.empty() || programs == MPI_IN_PLACE ? programs : sent_.place_of(programs);
}

void *Staging::recv_buf(void *programs) const {
    return received_.empty() || programs == MPI_IN_PLACE ? programs : received_.place_of(programs);
}

void Staging::deliver(const Blocks &arrivals, size_t most) const {
    for (size_t i = 0; i < landed.size() && i < arrivals.size(); ++i) {
        copy_data(landed[i], arrivals[i], most);
        most = SIZE_MAX;
    }
}

void Staging::deliver(const Block &whole, int part, int partitions) const {
    if (!landed.empty()) {
        copy_data(part_of(landed.front(), part, partitions), part_of(whole, part, partitions));
    }
}

} // namespace cd::logger
