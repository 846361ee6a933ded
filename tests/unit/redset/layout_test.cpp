// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/layout.h"

#include "redset/kvtree_file.h"
#include "vector_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace cd::redset {
namespace {

using Bytes = std::vector<std::byte>;

// A set in memory, on which rows are carried out byte by byte.
struct Memory {
    explicit Memory(const Layout &of) : layout(of) {
        for (int member = 0; member < layout.shape.members; ++member) {
            data.emplace_back(layout.logical_sizes[static_cast<size_t>(member)]);
            payload.emplace_back(layout.payload_size(member));
        }
    }

    Bytes &region(const Item &item) {
        auto &all = item.region == Region::data ? data : payload;
        return all[static_cast<size_t>(item.member)];
    }

    void carry_out(const Row &row) {
        for (size_t i = 0; i < row.outputs.size(); ++i) {
            const Item &output = row.outputs[i];
            for (uint64_t at = 0; at < output.length; ++at) {
                uint8_t sum = 0;
                for (size_t s = 0; s < row.sources.size(); ++s) {
                    const Item &source = row.sources[s];
                    if (at < source.length) {
                        sum ^= multiply(
                            row.coefficients.at(i, s),
                            std::to_integer<uint8_t>(region(source).at(source.offset + at)));
                    }
                }
                region(output).at(output.offset + at) = std::byte{sum};
            }
        }
    }

    void lose(const std::vector<Lost> &lost) {
        for (size_t member = 0; member < lost.size(); ++member) {
            if (lost[member].data) {
                std::fill(data[member].begin(), data[member].end(), std::byte{0xEE});
            }
            if (lost[member].payload) {
                std::fill(payload[member].begin(), payload[member].end(), std::byte{0xEE});
            }
        }
    }

    Layout layout;
    std::vector<Bytes> data;
    std::vector<Bytes> payload;
};

TEST(Plan, PayloadIsUpstreams) {
    for (const VectorCase &vector : vector_cases()) {
        for (const VectorCase::Set &set : vector.sets) {
            std::vector<uint64_t> sizes;
            for (const int rank : set.ranks) {
                sizes.push_back(vector.logical_file(rank).size());
            }
            Memory memory(Layout(set.shape, sizes));
            for (size_t member = 0; member < sizes.size(); ++member) {
                memory.data[member] = vector.logical_file(set.ranks[member]);
            }
            for (const Row &row : encoding_rows(memory.layout)) {
                memory.carry_out(row);
            }
            for (size_t member = 0; member < sizes.size(); ++member) {
                const auto path = vector.scheme_file(set, member);
                Bytes file = bytes_of(path);
                KvTree header;
                uint64_t size = 0;
                ASSERT_TRUE(decode_image(file, path.c_str(), header, size)) << message();
                file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
                EXPECT_EQ(file, memory.payload[member]) << path;
            }
        }
    }
}

TEST(Plan, RowsHaveTheirChecksumsWhereThePictureOfFourMembersHasThem) {
    const Layout layout({Scheme::reed_solomon, 4, 2}, {20, 20, 20, 20}); // chunks of 10
    const char *const picture[] = {"C0 C1 d0 d1", "d0 C0 C1 d1", "d0 d1 C0 C1", "C1 d0 d1 C0"};
    for (int member = 0; member < 4; ++member) {
        std::string line;
        for (int row = 0; row < 4; ++row) {
            const Item item = layout.item(row, member);
            EXPECT_EQ(item.length, 10u);
            line += row == 0 ? "" : " ";
            line += item.region == Region::data ? "d" : "C";
            line += std::to_string(item.offset / 10);
        }
        EXPECT_EQ(line, picture[member]);
    }
}

int lost_members(const std::vector<Lost> &lost) {
    return static_cast<int>(
        std::count_if(lost.begin(), lost.end(), [](const Lost &each) { return each.any(); }));
}

bool partners_cover(const Shape &shape, const std::vector<Lost> &lost) {
    for (int owner = 0; owner < shape.members; ++owner) {
        bool anybody = !lost[static_cast<size_t>(owner)].data;
        for (int distance = 1; distance <= shape.checks; ++distance) {
            anybody = anybody || !lost[static_cast<size_t>(shape.right(owner, distance))].payload;
        }
        if (!anybody) {
            return false;
        }
    }
    return true;
}

// Loses members of a set of any shape, and brings back what the scheme covers.
void lose_and_rebuild(const Shape &shape, std::mt19937 &random) {
    std::vector<uint64_t> sizes;
    for (int member = 0; member < shape.members; ++member) {
        sizes.push_back(random() % 3 == 0 ? 0 : random() % 50);
    }
    Memory memory(Layout(shape, sizes));
    for (Bytes &bytes : memory.data) {
        std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    }
    for (const Row &row : encoding_rows(memory.layout)) {
        memory.carry_out(row);
    }
    const Memory before = memory;

    std::vector<Lost> lost(static_cast<size_t>(shape.members));
    for (int losses = static_cast<int>(random() % 4) + shape.checks - 1; losses > 0; --losses) {
        Lost &member = lost[random() % lost.size()];
        member.data = member.data || random() % 4 != 0;
        member.payload = member.payload || random() % 4 != 0;
    }
    memory.lose(lost);
    const Memory left = memory;
    std::vector<Row> rows;
    const bool covered = rebuilding_rows(memory.layout, lost, rows);
    if (shape.scheme == Scheme::partner) {
        if (partners_cover(shape, lost)) {
            ASSERT_TRUE(covered);
        }
    } else if (lost_members(lost) <= shape.checks) {
        ASSERT_TRUE(covered);
    }
    for (const Row &row : rows) {
        memory.carry_out(row);
    }
    ASSERT_EQ(memory.data, covered ? before.data : left.data);
    ASSERT_EQ(memory.payload, covered ? before.payload : left.payload);
}

TEST(Plan, WhatIsCoveredComesBackAndNothingElseIsTouched) {
    std::mt19937 random(1);
    for (int members = 2; members <= 12; ++members) {
        for (int round = 0; round < 20; ++round) {
            SCOPED_TRACE(members * 100 + round);
            lose_and_rebuild({Scheme::xor_set, members, 1}, random);
            for (int checks = 1; checks < std::min(members, 8); ++checks) {
                lose_and_rebuild({Scheme::reed_solomon, members, checks}, random);
                lose_and_rebuild({Scheme::partner, members, checks}, random);
            }
        }
    }
}

TEST(Plan, WhatIsNotCoveredIsSaid) {
    std::vector<Row> rows;
    const auto whole = Lost{true, true};
    const Layout xor_set({Scheme::xor_set, 4, 1}, {5, 5, 5, 5});
    EXPECT_TRUE(rebuilding_rows(xor_set, std::vector<Lost>{{}, whole, {}, {}}, rows));
    EXPECT_FALSE(rebuilding_rows(xor_set, std::vector<Lost>{{}, whole, {}, whole}, rows));
    const Layout rs({Scheme::reed_solomon, 4, 2}, {5, 5, 5, 5});
    EXPECT_TRUE(rebuilding_rows(rs, std::vector<Lost>{{}, whole, {}, whole}, rows));
    EXPECT_FALSE(rebuilding_rows(rs, std::vector<Lost>{{}, whole, whole, whole}, rows));
    const Layout partner({Scheme::partner, 4, 1}, {5, 5, 5, 5});
    EXPECT_TRUE(rebuilding_rows(partner, std::vector<Lost>{{}, whole, {}, whole}, rows));
    EXPECT_FALSE(rebuilding_rows(partner, std::vector<Lost>{{}, whole, whole, {}}, rows));
    const Layout single({Scheme::single, 1, 0}, {5});
    EXPECT_TRUE(rebuilding_rows(single, std::vector<Lost>{{}}, rows));
    EXPECT_FALSE(rebuilding_rows(single, std::vector<Lost>{whole}, rows));
}

// Each makes one row of many, and would work out the others in vain.
TEST(Plan, OnlyTheRowsThatAMemberMakesAreSolvedForIt) {
    const Layout layout({Scheme::reed_solomon, 6, 2}, {50, 40, 30, 20, 10, 60});
    const std::vector<Lost> lost{{}, {true, true}, {}, {}, {true, false}, {}};
    std::vector<Row> all;
    ASSERT_TRUE(rebuilding_rows(layout, lost, all));
    ASSERT_EQ(all.size(), 5U);
    for (int maker = static_cast<int>(Makers::none); maker < layout.shape.members; ++maker) {
        std::vector<Row> rows;
        ASSERT_TRUE(rebuilding_rows(layout, lost, rows, only(maker)));
        ASSERT_EQ(rows.size(), all.size());
        for (size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].sources, all[i].sources);
            EXPECT_EQ(rows[i].outputs, all[i].outputs);
            EXPECT_EQ(rows[i].coefficients,
                      rows[i].maker == maker ? all[i].coefficients : Matrix());
        }
    }
}

// A rank that has nothing, beside one that has much, costs nothing.
TEST(Plan, WhatIsBehindTheEndOfALogicalFileIsNotASource) {
    for (const Row &row : encoding_rows(Layout({Scheme::xor_set, 4, 1}, {3000, 0, 0, 1}))) {
        for (const Item &source : row.sources) {
            EXPECT_GT(source.length, 0u);
            EXPECT_TRUE(source.member == 0 || source.member == 3);
        }
    }
}

} // namespace
} // namespace cd::redset
