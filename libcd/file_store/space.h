// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cd {

// Which bytes of a store file are free. What is free joins its neighbours, and the smallest
// stretch that is large enough is taken, so that what is written again and again in the same sizes
// goes on in the same places. Not thread-safe. Functions that take may throw std::bad_alloc.
class Space {
public:
    // Small pieces of data lie close together; from a block on they have blocks of their own.
    static uint64_t rounded(uint64_t length);

    // The file has grown: these bytes are free.
    void add(uint64_t offset, uint64_t length);

    // Where length bytes (rounded) are free; they are taken. Nothing if there are none.
    std::optional<uint64_t> take(uint64_t length);

    // Takes blocks of a length that is not free as a whole, as many as there are in one place: in
    // the smallest that makes at least a 64th of it, or else the largest. Offset and length, or
    // nothing if no block is free.
    std::optional<std::pair<uint64_t, uint64_t>> take_part(uint64_t length);

    // Takes exactly these bytes; false if some of them are not free.
    bool take_at(uint64_t offset, uint64_t length);

    // What take() handed out, with the same length. If there is no memory to remember it, the
    // bytes are lost until the file is opened again.
    void give(uint64_t offset, uint64_t length) noexcept;

    uint64_t free() const { return free_; }

private:
    void insert(uint64_t offset, uint64_t length);
    void erase(std::map<uint64_t, uint64_t>::iterator at);

    std::map<uint64_t, uint64_t> by_offset_; // to length
    std::set<std::pair<uint64_t, uint64_t>> by_length_;
    uint64_t free_ = 0;
};

} // namespace cd
