// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

#include "checkpoint/handing_over.h"

#include "../time_limit.h"

#include <gtest/gtest.h>

namespace cd::checkpoint {
namespace {

// What each of four ranks has of so many points in time, all of which count, and none is whole.
Content of_many(uint64_t points, const char *file) {
    Content content;
    for (uint64_t number = 1; number <= points; ++number) {
        const CheckpointId point{number, number, 0, 77};
        for (int rank = 0; rank < 4; ++rank) {
            RankFiles &files = content.points[point][rank];
            files.agreed = true;
            files.sizes[file] = 100;
        }
    }
    return content;
}

// As where a program was killed each time while what is older was removed.
TEST(HandingOver, TakesAMomentForManyPointsInTime) {
    constexpr uint64_t points = 500;
    const TimeLimit limit(30);
    Apart apart;
    apart.ranks = {0, 1, 2, 3, 10};
    for (int rank = 0; rank < 4; ++rank) {
        apart.of_its_own[{0, rank}] = of_many(points, "own");
    }
    apart.held.push_back({4, 0, 0, of_many(points, "held")});
    EXPECT_EQ(find_missing(apart).size(), points);
    EXPECT_TRUE(find_dispensable(apart, apart.held.front()).files.empty());
}

} // namespace
} // namespace cd::checkpoint
