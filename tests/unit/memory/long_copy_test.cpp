// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {
namespace {

using Copy = void (*)(void *to, const void *from, size_t length);

void expect_that_it_copies_every_byte_and_no_other(Copy copy, size_t offset, size_t length) {
    const size_t room = length + 100;
    std::vector<uint8_t> from(room);
    for (size_t i = 0; i < room; ++i) {
        from[i] = static_cast<uint8_t>(i * 7 + i / 251);
    }
    std::vector<uint8_t> to(room, 0xee);
    std::vector<uint8_t> expected = to;
    std::copy_n(&from[offset / 3], length, &expected[offset]);
    copy(&to[offset], &from[offset / 3], length);
    ASSERT_EQ(to, expected) << "offset " << offset << ", length " << length;
}

void expect_that_it_copies_every_byte_and_no_other(Copy copy) {
    for (size_t offset = 0; offset < 64; ++offset) {
        for (const size_t length : {0, 1, 63, 64, 65, 200, 16'383, 16'384, 16'500, 28'672, 40'000,
                                    262'143, 340'000, 690'000}) {
            expect_that_it_copies_every_byte_and_no_other(copy, offset, length);
        }
    }
    for (const size_t offset : {0, 1, 17, 48}) {
        for (const size_t length : {4'194'304, 4'194'305, 5'000'001}) {
            expect_that_it_copies_every_byte_and_no_other(copy, offset, length);
        }
    }
}

TEST(LongCopy, PastCachesCopiesEveryByteAndNoOtherWhateverTheAlignment) {
    expect_that_it_copies_every_byte_and_no_other(copy_past_caches);
}

TEST(LongCopy, InStreamsCopiesEveryByteAndNoOtherWhateverTheAlignment) {
    expect_that_it_copies_every_byte_and_no_other(copy_in_streams);
}

TEST(LongCopy, ThroughCachesCopiesEveryByteAndNoOtherWhateverTheLength) {
    expect_that_it_copies_every_byte_and_no_other(copy_through_caches);
}

} // namespace
} // namespace cd
