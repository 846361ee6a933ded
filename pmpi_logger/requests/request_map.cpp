// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/request_map.h"

#include <utility>

namespace cd::logger {

void RequestMap::add(uint64_t key, Request &request) {
    reserve_room();
    Slot &slot = slots_[place_of(key)];
    used_ += slot.request == nullptr ? 1 : 0;
    slot = {key, &request};
}

void RequestMap::grow() {
    std::vector<Slot> wider(2 * slots_.size());
    const std::vector<Slot> before = std::exchange(slots_, std::move(wider));
    --shift_;
    for (const Slot &slot : before) {
        if (slot.request != nullptr) {
            slots_[place_of(slot.key)] = slot;
        }
    }
}

void RequestMap::remove(uint64_t key, const Request &request) {
    size_t gap = place_of(key);
    if (slots_[gap].request != &request) {
        return;
    }
    // Move what would not be found behind the gap into it.
    const size_t mask = slots_.size() - 1;
    for (size_t i = after(gap); slots_[i].request != nullptr; i = after(i)) {
        const size_t from_home = (i - home_of(slots_[i].key)) & mask;
        if (from_home >= ((i - gap) & mask)) {
            slots_[gap] = slots_[i];
            gap = i;
        }
    }
    slots_[gap] = {};
    --used_;
}

} // namespace cd::logger
