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

// How a set protects its files: the scheme, and how many members and checks it has. Members form a
// ring: the left neighbour has the number before.
struct Coding {
    Scheme scheme = Scheme::single;
    int members = 1;
    int checks = 0; // single: 0; partner: copies elsewhere; xor: 1; rs: checksum blocks

    int left(int member, int distance) const {
        return (member + members - distance % members) % members;
    }
    int right(int member, int distance) const { return (member + distance) % members; }
    bool has_chunks() const { return scheme == Scheme::xor_set || scheme == Scheme::reed_solomon; }
    bool operator==(const Coding &) const = default;
};

// CD_ERROR_ARGUMENT if the scheme does not allow so many members or checks.
Status check_coding(const Coding &coding);

// Converts a scheme to its name in files, "XOR", "RS" and so on, and back. Upper and lower case are
// the same; other names give Scheme::none.
const char *scheme_name(Scheme scheme);
Scheme scheme_named(std::string_view name);

// "XOR, 4 members, 1 checksum": for messages. May throw std::bad_alloc.
std::string describe_coding(const Coding &coding);

// Returns the size of the chunks that xor and rs cut logical files into. A row has one chunk of
// each member, of which `checks` are checksums.
uint64_t chunk_size(const Coding &coding, std::span<const uint64_t> logical_sizes);

// Converts a member to an index.
inline size_t index(int member) { return static_cast<size_t>(member); }

} // namespace cd::redset
