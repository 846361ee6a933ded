// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/freed_handles.h"

#include "objects/lifetimes.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace cd::logger {
namespace {

std::mutex freed_mutex;

struct OneFreed {
    uint64_t handle = 0;
    bool given_back = false; // by a restore
};

struct Freed {
    std::map<std::array<uint64_t, 3>, OneFreed> at; // of stream, entry and which
    std::unordered_multiset<uint64_t> handles;      // not given back yet

    void set(OneFreed &one, bool given_back) {
        if (one.given_back == given_back) {
            return;
        }
        one.given_back = given_back;
        if (given_back) {
            handles.erase(handles.find(one.handle));
        } else {
            handles.insert(one.handle);
        }
    }
};
std::atomic<size_t> count = 0;

// Never destroyed: MPI may be used while the process ends.
Freed &freed() {
    static auto &all = *new Freed;
    return all;
}

void give_back(const cd_log_place &place, uint64_t which) {
    const std::scoped_lock lock(freed_mutex);
    const auto found = freed().at.find({place.stream, place.entry, which});
    if (found != freed().at.end()) {
        freed().set(found->second, true);
    }
}

} // namespace

void FreedHandles::add(uint64_t handle, const cd_log_place &place, uint64_t which) {
    when_restored(place, [=] { give_back(place, which); });
    const std::scoped_lock lock(freed_mutex);
    OneFreed &one = freed()
                        .at.try_emplace({place.stream, place.entry, which}, OneFreed{handle, true})
                        .first->second;
    if (one.given_back) {
        one.handle = handle;
        freed().set(one, false);
    }
    count = freed().at.size();
}

void FreedHandles::add_again() {
    const std::optional<cd_log_place> place = count > 0 ? last_entry() : std::nullopt;
    if (!place) {
        return;
    }
    std::map<uint64_t, uint64_t> handles; // by which
    {
        const std::scoped_lock lock(freed_mutex);
        for (auto one = freed().at.lower_bound({place->stream, place->entry, 0});
             one != freed().at.end() && one->first[0] == place->stream &&
             one->first[1] == place->entry;
             ++one) {
            if (one->second.given_back) {
                handles.emplace(one->first[2], one->second.handle);
            }
        }
    }
    for (const auto &[which, handle] : handles) {
        add(handle, *place, which);
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
    const bool was_freed = !found->second.given_back;
    freed().set(found->second, true);
    freed().at.erase(found);
    count = freed().at.size();
    return was_freed;
}

} // namespace cd::logger
