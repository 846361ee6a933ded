// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/gf256.h"
#include "redset/scheme.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cd::redset {

// data: a member's logical file; payload: its scheme file behind the header.
enum class Region : uint8_t { data, payload };

// Bytes of a member. Up to the row's length zeros follow, which are neither read nor written.
struct Item {
    int member = 0;
    Region region = Region::data;
    uint64_t offset = 0;
    uint64_t length = 0;
    bool operator==(const Item &) const = default;
};

// Outputs that one member computes from sources, byte by byte.
struct Row {
    int maker = 0;
    uint64_t length = 0;
    std::vector<Item> sources;
    std::vector<Item> outputs;
    Matrix coefficients; // a row for each output, a column for each source
};

// The sizes of the members' logical files, and where chunks and copies are.
struct Layout {
    Coding coding;
    std::vector<uint64_t> logical_sizes; // of each member
    uint64_t chunk = 0;                  // xor and rs

    Layout(const Coding &coding, std::vector<uint64_t> logical_sizes);

    uint64_t payload_size(int member) const;
    // For xor and rs: the part of a member in a row. Rows are numbered like members.
    Item item(int row, int member) const;
    // For partner: the copy of the owner's logical file that its right neighbour at a distance has.
    Item copy(int owner, int distance) const;
};

struct Lost {
    bool data = false;
    bool payload = false;
    bool any() const { return data || payload; }
};

// The members whose rows get coefficients. They take time in the third power of what is lost, and
// only the maker of a row needs them.
enum class Makers : int { all = -2, none = -1 };
constexpr Makers only(int member) { return static_cast<Makers>(member); }

// Plans the rows that make all payload of a set from its data.
std::vector<Row> encoding_rows(const Layout &layout, Makers makers = Makers::all);

// Plans the rows that make what is lost from the rest. False if the rest does not suffice.
bool rebuilding_rows(const Layout &layout, std::span<const Lost> lost, std::vector<Row> &rows,
                     Makers makers = Makers::all);

} // namespace cd::redset
