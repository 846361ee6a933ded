// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lifetimes/freed_handles.h"

#include "lifetimes/lifetimes.h"

#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace cd::logger {
namespace {

std::mutex freed_mutex;

struct Freed {
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> at; // handles, of stream and entry
    std::unordered_multiset<uint64_t> handles;
};

// Never destroyed: MPI may be used while the process ends.
Freed &freed() {
    static auto &all = *new Freed;
    return all;
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place) {
    when_restored(place, [place] { remove(place); });
    const std::scoped_lock lock(freed_mutex);
    if (freed().at.try_emplace({place.stream, place.entry}, handle).second) {
        freed().handles.insert(handle);
    }
}

bool FreedHandles::has(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return freed().handles.contains(handle);
}

bool FreedHandles::remove(const cd_log_place &place) {
    const std::scoped_lock lock(freed_mutex);
    const auto found = freed().at.find({place.stream, place.entry});
    if (found == freed().at.end()) {
        return false;
    }
    freed().handles.erase(freed().handles.find(found->second));
    freed().at.erase(found);
    return true;
}

} // namespace cd::logger
