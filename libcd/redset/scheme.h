// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "config/storage_info.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cd::redset {

// A set of members that protect each other, in a ring: a member's left neighbour has the number
// before its own.
struct Shape {
    Scheme scheme = Scheme::single;
    int members = 1;
    int checks = 0; // single: 0; partner: copies elsewhere; xor: 1; rs: checksum blocks

    int left(int member, int distance) const {
        return (member + members - distance % members) % members;
    }
    int right(int member, int distance) const { return (member + distance) % members; }
    bool has_chunks() const { return scheme == Scheme::xor_set || scheme == Scheme::reed_solomon; }
    bool operator==(const Shape &) const = default;
};

// CD_ERROR_ARGUMENT for what the scheme does not allow.
Status check_shape(const Shape &shape);

// "XOR", "RS" and so on, as files have it; and back, in letters of any size, Scheme::none for
// anything else.
const char *scheme_name(Scheme scheme);
Scheme scheme_named(std::string_view name);

// "XOR, 4 members, 1 checksum": for messages. May throw std::bad_alloc.
std::string describe_shape(const Shape &shape);

// A member's files one after the other are its logical file, which xor and rs cut into chunks: each
// of the set's rows has one chunk of each member, checks of which are checksums.
uint64_t chunk_size(const Shape &shape, std::span<const uint64_t> logical_sizes);

// Members as places of a vector.
inline size_t index(int member) { return static_cast<size_t>(member); }

} // namespace cd::redset
