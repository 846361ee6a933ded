// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/plan.h"

#include <algorithm>
#include <utility>

namespace cd::redset {
namespace {

// A member's rows with checksums are those from its own on, around the ring; of the others, how
// many are before this one.
uint64_t chunks_before(const Shape &shape, int row, int member) {
    const int behind = member + shape.checks;
    if (behind > shape.members) {
        return static_cast<uint64_t>(row - (behind - shape.members));
    }
    return static_cast<uint64_t>(row < member ? row : row - shape.checks);
}

} // namespace

Layout::Layout(const Shape &of, std::vector<uint64_t> sizes)
    : shape(of), logical_sizes(std::move(sizes)),
      chunk(of.has_chunks() ? chunk_size(of, logical_sizes) : 0) {}

uint64_t Layout::payload_size(int member) const {
    if (shape.has_chunks()) {
        return chunk * static_cast<uint64_t>(shape.checks);
    }
    uint64_t size = 0;
    for (int distance = 1; distance <= shape.checks; ++distance) {
        size += logical_sizes[static_cast<size_t>(shape.left(member, distance))];
    }
    return size;
}

Item Layout::item(int row, int member) const {
    const int check = shape.left(row, member);
    if (check < shape.checks) {
        return {member, Region::payload, static_cast<uint64_t>(check) * chunk, chunk};
    }
    const uint64_t size = logical_sizes[static_cast<size_t>(member)];
    const uint64_t offset = chunks_before(shape, row, member) * chunk;
    return {member, Region::data, offset, offset < size ? std::min(chunk, size - offset) : 0};
}

Item Layout::copy(int owner, int distance) const {
    const int holder = shape.right(owner, distance);
    uint64_t offset = 0;
    for (int nearer = 1; nearer < distance; ++nearer) {
        offset += logical_sizes[static_cast<size_t>(shape.left(holder, nearer))];
    }
    return {holder, Region::payload, offset, logical_sizes[static_cast<size_t>(owner)]};
}

} // namespace cd::redset
