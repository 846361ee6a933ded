// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/codec.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace cd {
namespace {

TEST(ByteWriter, ThatGrowsALittleAtATimeMovesItsBytesAFewTimesOnly) {
    ByteWriter writer;
    int moves = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::byte *before = writer.data();
        writer.reserve_room(8);
        moves += writer.data() != before;
        const std::byte *with_room = writer.data();
        writer.fixed64(1);
        ASSERT_EQ(writer.data(), with_room);
    }
    EXPECT_LT(moves, 30);
}

} // namespace
} // namespace cd
