// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lifetimes/freed_handles.h"

#include "lifetimes/lifetimes.h"

#include <array>
#include <map>
#include <mutex>
#include <unordered_set>

namespace cd::logger {
namespace {

std::mutex freed_mutex;

struct Freed {
    std::map<std::array<uint64_t, 3>, uint64_t> at; // handles, of stream, entry and which
    std::unordered_multiset<uint64_t> handles;
};

// Never destroyed: MPI may be used while the process ends.
Freed &freed() {
    static auto &all = *new Freed;
    return all;
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place, uint64_t which) {
    when_restored(place, [=] { remove(place, which); });
    const std::scoped_lock lock(freed_mutex);
    if (freed().at.try_emplace({place.stream, place.entry, which}, handle).second) {
        freed().handles.insert(handle);
    }
}

bool FreedHandles::has(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return freed().handles.contains(handle);
}

bool FreedHandles::remove(const cd_log_place &place, uint64_t which) {
    const std::scoped_lock lock(freed_mutex);
    const auto found = freed().at.find({place.stream, place.entry, which});
    if (found == freed().at.end()) {
        return false;
    }
    freed().handles.erase(freed().handles.find(found->second));
    freed().at.erase(found);
    return true;
}

} // namespace cd::logger
