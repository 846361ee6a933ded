// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/range_set.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Gaps = std::vector<std::pair<uintptr_t, uintptr_t>>;

Gaps gaps(const RangeSet &ranges, Range asked) {
    Gaps found;
    ranges.for_each_gap(asked, [&](Range gap) { found.emplace_back(gap.begin, gap.end); });
    return found;
}

TEST(RangeSet, EmptyLeavesAllOfARangeOut) {
    EXPECT_EQ(gaps(RangeSet(), {5, 9}), (Gaps{{5, 9}}));
    EXPECT_EQ(gaps(RangeSet(), {5, 5}), Gaps{});
}

TEST(RangeSet, HasTheGapsThatBytesOneByOneHave) {
    constexpr uintptr_t size = 40;
    std::mt19937 random(2611);
    const auto some_range = [&random] {
        const uintptr_t begin = random() % size;
        return Range{begin, begin + 1 + random() % std::min<uintptr_t>(size - begin, 8)};
    };
    for (int round = 0; round < 500; ++round) {
        RangeSet ranges;
        std::bitset<size> held;
        for (int step = 0; step < 8; ++step) {
            const Range added = some_range();
            ranges.add(added);
            for (uintptr_t at = added.begin; at < added.end; ++at) {
                held.set(at);
            }
            const Range asked = some_range();
            Gaps expected;
            for (uintptr_t at = asked.begin; at < asked.end; ++at) {
                if (held.test(at)) {
                    continue;
                }
                if (!expected.empty() && expected.back().second == at) {
                    ++expected.back().second;
                } else {
                    expected.emplace_back(at, at + 1);
                }
            }
            ASSERT_EQ(gaps(ranges, asked), expected) << "round " << round << ", step " << step;
        }
    }
}

} // namespace
} // namespace cd
