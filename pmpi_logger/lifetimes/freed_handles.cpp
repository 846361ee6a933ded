// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lifetimes/freed_handles.h"

#include "lifetimes/lifetimes.h"

#include <mutex>
#include <unordered_set>

namespace cd::logger {
namespace {

std::mutex freed_mutex;

// Never destroyed: MPI may be used while the process ends.
std::unordered_set<uint64_t> &freed_handles() {
    static auto &all = *new std::unordered_set<uint64_t>;
    return all;
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place) {
    when_restored(place, [handle] { remove(handle); });
    const std::scoped_lock lock(freed_mutex);
    freed_handles().insert(handle);
}

bool FreedHandles::has(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return freed_handles().contains(handle);
}

bool FreedHandles::remove(uint64_t handle) {
    const std::scoped_lock lock(freed_mutex);
    return freed_handles().erase(handle) > 0;
}

} // namespace cd::logger
