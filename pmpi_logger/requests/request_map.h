// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd::logger {

struct Request;

// Finds requests by a number: an open-addressed table without tombstones, since requests come and
// go in every exchange. Allocates only when it has never held so many. Not locked.
class RequestMap {
public:
    // Returns nullptr if there is none.
    Request *find(uint64_t key) const { return slots_[place_of(key)].request; }

    // Adds a request. Replaces one that has the key.
    void add(uint64_t key, Request &request) {
        if (2 * (used_ + 1) > slots_.size()) {
            grow();
        }
        Slot &slot = slots_[place_of(key)];
        used_ += slot.request == nullptr ? 1 : 0;
        slot = {key, &request};
    }

    // Removes the key if it leads to `request`.
    void remove(uint64_t key, const Request &request) {
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

private:
    struct Slot {
        uint64_t key = 0;
        Request *request = nullptr;
    };

    // Keys are addresses, or numbers that count up.
    size_t home_of(uint64_t key) const { return key * 0x9E3779B97F4A7C15U >> shift_; }
    size_t after(size_t i) const { return (i + 1) & (slots_.size() - 1); }
    // Returns the place where the key is, or would be.
    size_t place_of(uint64_t key) const {
        size_t i = home_of(key);
        while (slots_[i].request != nullptr && slots_[i].key != key) {
            i = after(i);
        }
        return i;
    }
    void grow() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        --shift_;
        for (const Slot &slot : before) {
            if (slot.request != nullptr) {
                slots_[place_of(slot.key)] = slot;
            }
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(64); // a power of two, at most half of them used
    unsigned shift_ = 64 - 6;
    size_t used_ = 0;
};

} // namespace cd::logger
