// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/layout.h"

#include "redset/erasure_code.h"

#include <algorithm>
#include <utility>

namespace cd::redset {

namespace {

using Losses = std::span<const Lost>;

bool is_lost(const Item &item, Losses lost) {
    const Lost &member = lost[static_cast<size_t>(item.member)];
    return item.region == Region::data ? member.data : member.payload;
}

// ---- Copies

// Partner: the original, or else one of the copies, is the source of all that are lost.
bool copying_row(const Layout &layout, int owner, Losses lost, std::vector<Row> &rows) {
    const uint64_t size = layout.logical_sizes[static_cast<size_t>(owner)];
    if (size == 0) {
        return true;
    }
    Row row;
    row.length = size;
    const auto sort_out = [&](const Item &item) {
        if (is_lost(item, lost)) {
            row.outputs.push_back(item);
        } else if (row.sources.empty()) {
            row.sources.push_back(item);
        }
    };
    sort_out({owner, Region::data, 0, size});
    for (int distance = 1; distance <= layout.coding.checks; ++distance) {
        sort_out(layout.copy(owner, distance));
    }
    if (row.outputs.empty()) {
        return true;
    }
    if (row.sources.empty()) {
        return false;
    }
    row.maker = row.sources.front().member;
    row.coefficients = Matrix(row.outputs.size(), 1);
    for (size_t i = 0; i < row.outputs.size(); ++i) {
        row.coefficients.at(i, 0) = 1;
    }
    rows.push_back(std::move(row));
    return true;
}

// ---- Checksums

// Returns the coefficients of all checksum blocks, with a column for each member.
Matrix check_rows(const Coding &coding) {
    const auto members = static_cast<size_t>(coding.members);
    if (coding.scheme == Scheme::reed_solomon) {
        return reed_solomon_rows(members, static_cast<size_t>(coding.checks));
    }
    Matrix ones(1, members);
    for (size_t p = 0; p < members; ++p) {
        ones.at(0, p) = 1;
    }
    return ones;
}

Matrix selected(const Matrix &from, const std::vector<size_t> &rows,
                const std::vector<size_t> &columns) {
    Matrix part(rows.size(), columns.size());
    for (size_t r = 0; r < rows.size(); ++r) {
        for (size_t c = 0; c < columns.size(); ++c) {
            part.at(r, c) = from.at(rows[r], columns[c]);
        }
    }
    return part;
}

// The owners of the chunks of a row. Checks are numbers of checksum blocks, data of members.
struct Parts {
    std::vector<size_t> data, lost_data, checks, lost_checks;
};

Parts parts_of(const Layout &layout, int row, Losses lost) {
    Parts parts;
    for (int member = 0; member < layout.coding.members; ++member) {
        const Item item = layout.item(row, member);
        if (item.length == 0) {
            continue; // zeros, which contribute nothing
        }
        const bool gone = is_lost(item, lost);
        if (item.region == Region::data) {
            (gone ? parts.lost_data : parts.data).push_back(static_cast<size_t>(member));
        } else {
            const auto check = static_cast<size_t>(layout.coding.left(row, member));
            (gone ? parts.lost_checks : parts.checks).push_back(check);
        }
    }
    return parts;
}

// With d the data that are there, u those that are lost, c as many checksums as there are unknowns:
//     c = D d + U u,  so  u = 1/U c + 1/U D d;  and a lost checksum is  l = D' d + U' u.
// All of it depends on coefficients alone, and is worked out before any data are touched. Sources
// are d and then c, outputs u and then l.
Matrix solve(const Matrix &checks, const Parts &parts) {
    const size_t unknowns = parts.lost_data.size();
    const size_t known = parts.data.size();
    Matrix all(unknowns + parts.lost_checks.size(), known + unknowns);
    const auto put = [&](size_t row, size_t column, const Matrix &part) {
        for (size_t r = 0; r < part.rows(); ++r) {
            for (size_t c = 0; c < part.columns(); ++c) {
                all.at(row + r, column + c) ^= part.at(r, c);
            }
        }
    };
    const Matrix inverted = inverse(selected(checks, parts.checks, parts.lost_data));
    const Matrix folded = inverted * selected(checks, parts.checks, parts.data);
    put(0, 0, folded);
    put(0, known, inverted);
    const Matrix onto = selected(checks, parts.lost_checks, parts.lost_data);
    put(unknowns, 0, selected(checks, parts.lost_checks, parts.data));
    put(unknowns, 0, onto * folded);
    put(unknowns, known, onto * inverted);
    return all;
}

bool coded_row(const Layout &layout, const Matrix &checks, int number, Losses lost, Makers makers,
               std::vector<Row> &rows) {
    Parts parts = parts_of(layout, number, lost);
    if (parts.lost_data.empty() && parts.lost_checks.empty()) {
        return true;
    }
    if (parts.checks.size() < parts.lost_data.size()) {
        return false;
    }
    parts.checks.resize(parts.lost_data.size());

    Row row;
    row.maker = number;
    row.length = layout.chunk;
    const auto data_item = [&](size_t member) {
        return layout.item(number, static_cast<int>(member));
    };
    const auto check_item = [&](size_t check) {
        return layout.item(number, layout.coding.left(number, static_cast<int>(check)));
    };
    const auto put = [](const std::vector<size_t> &from, const auto &item, std::vector<Item> &to) {
        std::transform(from.begin(), from.end(), std::back_inserter(to), item);
    };
    put(parts.data, data_item, row.sources);
    put(parts.checks, check_item, row.sources);
    put(parts.lost_data, data_item, row.outputs);
    put(parts.lost_checks, check_item, row.outputs);
    if (makers == Makers::all || makers == only(number)) {
        row.coefficients = solve(checks, parts);
    }
    rows.push_back(std::move(row));
    return true;
}

} // namespace

bool rebuilding_rows(const Layout &layout, Losses lost, std::vector<Row> &rows, Makers makers) {
    const Coding &coding = layout.coding;
    const bool copies = coding.scheme == Scheme::partner || coding.scheme == Scheme::single;
    const Matrix checks = copies ? Matrix() : check_rows(coding);
    std::vector<Row> made;
    for (int i = 0; i < coding.members; ++i) {
        if (!(copies ? copying_row(layout, i, lost, made)
                     : coded_row(layout, checks, i, lost, makers, made))) {
            return false;
        }
    }
    rows = std::move(made);
    return true;
}

// Encoding is rebuilding a payload that was never there.
std::vector<Row> encoding_rows(const Layout &layout, Makers makers) {
    const std::vector<Lost> lost(static_cast<size_t>(layout.coding.members), {false, true});
    std::vector<Row> rows;
    rebuilding_rows(layout, lost, rows, makers);
    return rows;
}

namespace {

// A member's checksums are in the rows from its own on, around the ring. Counts its data rows
// before this one.
uint64_t chunks_before(const Coding &coding, int row, int member) {
    const int behind = member + coding.checks;
    if (behind > coding.members) {
        return static_cast<uint64_t>(row - (behind - coding.members));
    }
    return static_cast<uint64_t>(row < member ? row : row - coding.checks);
}

} // namespace

Layout::Layout(const Coding &of, std::vector<uint64_t> sizes)
    : coding(of), logical_sizes(std::move(sizes)),
      chunk(of.has_chunks() ? chunk_size(of, logical_sizes) : 0) {}

uint64_t Layout::payload_size(int member) const {
    if (coding.has_chunks()) {
        return chunk * static_cast<uint64_t>(coding.checks);
    }
    uint64_t size = 0;
    for (int distance = 1; distance <= coding.checks; ++distance) {
        size += logical_sizes[static_cast<size_t>(coding.left(member, distance))];
    }
    return size;
}

Item Layout::item(int row, int member) const {
    const int check = coding.left(row, member);
    if (check < coding.checks) {
        return {member, Region::payload, static_cast<uint64_t>(check) * chunk, chunk};
    }
    const uint64_t size = logical_sizes[static_cast<size_t>(member)];
    const uint64_t offset = chunks_before(coding, row, member) * chunk;
    return {member, Region::data, offset, offset < size ? std::min(chunk, size - offset) : 0};
}

Item Layout::copy(int owner, int distance) const {
    const int holder = coding.right(owner, distance);
    uint64_t offset = 0;
    for (int nearer = 1; nearer < distance; ++nearer) {
        offset += logical_sizes[static_cast<size_t>(coding.left(holder, nearer))];
    }
    return {holder, Region::payload, offset, logical_sizes[static_cast<size_t>(owner)]};
}

} // namespace cd::redset
