// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/space.h"

#include "file_store/format.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace cd {

uint64_t Space::rounded(uint64_t length) {
    const uint64_t unit = length < format::block ? format::small_extent : format::block;
    return (length + unit - 1) / unit * unit;
}

void Space::add(uint64_t offset, uint64_t length) {
    const auto following = by_offset_.lower_bound(offset);
    if (following != by_offset_.end() && offset + length == following->first) {
        length += following->second;
        erase(following);
    }
    const auto behind = by_offset_.lower_bound(offset);
    if (behind != by_offset_.begin()) {
        const auto previous = std::prev(behind);
        if (previous->first + previous->second == offset) {
            offset = previous->first;
            length += previous->second;
            erase(previous);
        }
    }
    insert(offset, length);
}

std::optional<uint64_t> Space::take(uint64_t length) {
    length = rounded(length);
    // A block of its own may have to start behind the begin of what is free.
    const bool aligned = length >= format::block;
    for (auto at = by_length_.lower_bound({length, 0}); at != by_length_.end(); ++at) {
        const uint64_t begin = at->second;
        const uint64_t start = aligned ? format::whole_blocks(begin) : begin;
        if (start - begin + length <= at->first) {
            take_at(start, length);
            return start;
        }
    }
    return std::nullopt;
}

std::optional<std::pair<uint64_t, uint64_t>> Space::take_part(uint64_t length) {
    const auto take_of = [&](const std::pair<uint64_t, uint64_t> &stretch) {
        const auto &[held, begin] = stretch;
        const uint64_t start = format::whole_blocks(begin);
        const uint64_t end = (begin + held) / format::block * format::block;
        const uint64_t part = start < end ? std::min(length, end - start) : 0;
        return std::pair(start, part > 0 && take_at(start, part) ? part : 0);
    };
    const uint64_t worthwhile = std::max<uint64_t>(length / 64, format::block);
    const auto first = by_length_.lower_bound({worthwhile, 0});
    for (auto at = first; at != by_length_.end(); ++at) {
        if (const auto taken = take_of(*at); taken.second > 0) {
            return taken;
        }
    }
    for (auto at = first; at != by_length_.begin();) {
        --at;
        if (at->first < format::block) {
            break;
        }
        if (const auto taken = take_of(*at); taken.second > 0) {
            return taken;
        }
    }
    return std::nullopt;
}

bool Space::take_at(uint64_t offset, uint64_t length) {
    auto at = by_offset_.upper_bound(offset);
    if (at == by_offset_.begin()) {
        return length == 0;
    }
    --at;
    const uint64_t begin = at->first;
    const uint64_t held = at->second;
    if (offset + length > begin + held) {
        return length == 0;
    }
    if (offset + length < begin + held) {
        insert(offset + length, begin + held - offset - length); // may fail; nothing has changed
    }
    auto stretch = by_length_.extract({held, begin});
    free_ -= held - (offset - begin);
    if (begin == offset) {
        by_offset_.erase(at);
    } else {
        stretch.value().first = at->second = offset - begin;
        by_length_.insert(std::move(stretch));
    }
    return true;
}

void Space::give(uint64_t offset, uint64_t length) noexcept {
    try {
        add(offset, rounded(length));
    } catch (const std::bad_alloc &) { // declared above
    }
}

void Space::insert(uint64_t offset, uint64_t length) {
    const auto stretch = by_length_.emplace(length, offset).first;
    try {
        by_offset_.emplace(offset, length);
    } catch (...) {
        by_length_.erase(stretch);
        throw;
    }
    free_ += length;
}

void Space::erase(std::map<uint64_t, uint64_t>::iterator at) {
    free_ -= at->second;
    by_length_.erase({at->second, at->first});
    by_offset_.erase(at);
}

} // namespace cd
