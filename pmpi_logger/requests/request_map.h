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

    // Reserves memory, so that `more` requests can be added without allocating.
    void reserve_room(size_t more = 1) {
        while (2 * (used_ + more) > slots_.size()) {
            grow();
        }
    }

    // Adds a request. Replaces one that has the key.
    void add(uint64_t key, Request &request);

    // Removes the key if it leads to `request`.
    void remove(uint64_t key, const Request &request);

private:
    struct Slot {
        uint64_t key = 0;
        Request *request = nullptr;
    };

    // Keys are addresses, or numbers that count up.
    size_t home_of(uint64_t key) const { return key * 0x9E3779B97F4A7C15U >> shift_; }
    size_t after(size_t i) const { return (i + 1) & (slots_.size() - 1); }
    // Where the key is, or would be.
    size_t place_of(uint64_t key) const {
        size_t i = home_of(key);
        while (slots_[i].request != nullptr && slots_[i].key != key) {
            i = after(i);
        }
        return i;
    }
    void grow();

    std::vector<Slot> slots_ = std::vector<Slot>(64); // a power of two, at most half of them used
    unsigned shift_ = 64 - 6;
    size_t used_ = 0;
};

} // namespace cd::logger
