// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/gf256.h"
#include "redset/scheme.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cd::redset {

// What a member has: its logical file, and what its scheme file holds behind the header.
enum class Region : uint8_t { data, payload };

// Bytes of a member; behind them the row goes on with zeros, which are neither read nor written.
struct Item {
    int member = 0;
    Region region = Region::data;
    uint64_t offset = 0;
    uint64_t length = 0;
    bool operator==(const Item &) const = default;
};

// Outputs that are made of sources, byte by byte, at one member.
struct Row {
    int maker = 0;
    uint64_t length = 0;
    std::vector<Item> sources;
    std::vector<Item> outputs;
    Matrix coefficients; // a row for each output, a column for each source
};

// Where things are in a set, known to every member alike: sizes of logical files, and what follows
// from them.
struct Layout {
    Shape shape;
    std::vector<uint64_t> logical_sizes; // of each member
    uint64_t chunk = 0;                  // xor and rs

    Layout(const Shape &shape, std::vector<uint64_t> logical_sizes);

    uint64_t payload_size(int member) const;
    // Xor and rs: what a member has in a row. Rows are numbered like members.
    Item item(int row, int member) const;
    // Partner: the copy of an owner's logical file that its right neighbour at a distance has.
    Item copy(int owner, int distance) const;
};

struct Lost {
    bool data = false;
    bool payload = false;
    bool any() const { return data || payload; }
};

// Whose rows get coefficients: to work them out takes the third power of what is lost for each row,
// and who makes it alone needs them.
enum class Makers : int { all = -2, none = -1 };
constexpr Makers only(int member) { return static_cast<Makers>(member); }

// All of a set's payload, made of all of its data.
std::vector<Row> encoding_rows(const Layout &layout, Makers makers = Makers::all);

// What is lost, made of the rest. False when the rest does not suffice.
bool rebuilding_rows(const Layout &layout, std::span<const Lost> lost, std::vector<Row> &rows,
                     Makers makers = Makers::all);

} // namespace cd::redset
