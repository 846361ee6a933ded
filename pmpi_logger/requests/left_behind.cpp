// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/left_behind.h"

#include "requests/completion.h"
#include "requests/logged_arrivals.h"
#include "requests/table.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

struct Left {
    RequestTable::Start start;
    size_t blocks = 0;
    MPI_Status status = {};
    int result = MPI_SUCCESS;
    std::vector<std::byte> entry; // a header, and what the request has brought
};

struct AllLeft {
    std::mutex mutex;
    std::unordered_map<uint64_t, Left> of_starts;
};
std::atomic<size_t> left_count = 0;

// Never destroyed: MPI may be used while the process ends.
AllLeft &left() {
    static auto &all = *new AllLeft;
    return all;
}

bool take_out(uint64_t id, Left &found) {
    if (left_count == 0 || id == 0) {
        return false;
    }
    const std::scoped_lock lock(left().mutex);
    auto node = left().of_starts.extract(id);
    left_count = left().of_starts.size();
    if (!node.empty()) {
        found = std::move(node.mapped());
    }
    return !node.empty();
}

// What is left of the log is forgotten, so that its entries are not what tells.
bool reaches_log(const Reach &reach, const cd_log_place &place) {
    return reach.covers({place.family, place.stream, UINT64_MAX});
}

template <typename IsGone> void forget_if(const IsGone &is_gone) {
    const std::scoped_lock lock(left().mutex);
    std::erase_if(left().of_starts, [&](const auto &node) { return is_gone(node.second.start); });
    left_count = left().of_starts.size();
}

} // namespace

void leave_behind(uint64_t id, EntryReader &entry, size_t blocks, const MPI_Status &status,
                  int result) {
    const std::optional<RequestTable::Start> start = RequestTable::instance().start_of(id);
    if (!start) {
        skip_arrivals(entry, blocks);
        return;
    }
    Left one{*start, blocks, status, result, std::vector<std::byte>(sizeof(EntryHeader))};
    const EntryHeader header;
    std::memcpy(one.entry.data(), &header, sizeof header);
    const std::byte *const begin = entry.take(0);
    skip_arrivals(entry, blocks);
    one.entry.insert(one.entry.end(), begin, static_cast<const std::byte *>(entry.take(0)));
    const std::scoped_lock lock(left().mutex);
    // A call that told of it has brought its data before.
    left().of_starts.try_emplace(id, std::move(one));
    left_count = left().of_starts.size();
}

bool take_left_behind(Request &request) {
    Left found;
    if (!take_out(request.id, found)) {
        return false;
    }
    if (still_brings_data(request)) {
        EntryReader entry(found.entry.data(), found.entry.size());
        const auto types = RequestTable::instance().hold_types();
        if (request.arrivals.size() != found.blocks ||
            !take_arrivals(entry, request.id, &request, found.blocks)) {
            found.result = lost;
        }
        request.delivered = true;
    }
    complete_in_mpi(request, found.status, found.result);
    return true;
}

void forget_left_behind(uint64_t id) {
    Left unused;
    take_out(id, unused);
}

void forget_left_behind(const Reach &restored) {
    if (left_count > 0) {
        forget_if([&](const RequestTable::Start &start) {
            return reaches_log(restored, start.place) && !restored.begins_after(start.replayed_at);
        });
    }
}

void forget_left_behind(uint64_t family, cd_handle root) {
    if (left_count > 0) {
        const Reach kept(root);
        forget_if([&](const RequestTable::Start &start) {
            return start.place.family == family && !reaches_log(kept, start.place);
        });
    }
}

} // namespace cd::logger
