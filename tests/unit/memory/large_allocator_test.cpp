// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/large_allocator.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace cd {
namespace {

using InPages = std::vector<uint64_t, LargeAllocator<uint64_t>>;

constexpr size_t large_count = 2 * huge_page / sizeof(uint64_t);

TEST(LargeAllocator, HasPagesOfItsOwnForWhatIsLarge) {
    CountedPages pages;
    {
        const InPages numbers(large_count + 1, 7);
        EXPECT_EQ(pages.mapped, 3 * huge_page);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers.data()) % huge_page, 0U);
        EXPECT_EQ(numbers.front() + numbers.back(), 14U);
    }
    EXPECT_EQ(pages.mapped, 0U);
}

TEST(LargeAllocator, LeavesTheRestToTheHeap) {
    CountedPages pages;
    const InPages numbers(large_count - 1, 7);
    EXPECT_EQ(pages.maps, 0U);
}

TEST(LargeAllocator, ThrowsWhereThereAreNoPages) {
    CountedPages pages;
    pages.allowed_maps = 0;
    EXPECT_THROW(InPages(large_count, 7), std::bad_alloc);
}

TEST(LargeAllocator, RefusesWhatCannotBe) {
    EXPECT_THROW(LargeAllocator<uint64_t>().allocate(SIZE_MAX / 4), std::bad_alloc);
}

} // namespace
} // namespace cd
