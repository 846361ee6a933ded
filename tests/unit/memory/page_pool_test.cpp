// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/page_pool.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

namespace cd {
namespace {

constexpr size_t KiB = 1024;
constexpr size_t MiB = 1024 * KiB;

struct PagePoolTest : testing::Test {
    ~PagePoolTest() override { pool.trim(); }

    void *take(size_t size) { return pool.take(size); }

    CountedPages pages;
    PagePool pool;
};

TEST_F(PagePoolTest, RoundsToPagesAndLargeSizesToHugePages) {
    EXPECT_EQ(PagePool::rounded(64 * KiB), 64 * KiB);
    EXPECT_EQ(PagePool::rounded(64 * KiB + 1), 68 * KiB);
    EXPECT_EQ(PagePool::rounded(4 * MiB - 1), 4 * MiB);
    EXPECT_EQ(PagePool::rounded(4 * MiB + 1), 6 * MiB);
}

TEST_F(PagePoolTest, ReusesARegionUpToTwiceAsLarge) {
    void *large = take(1000 * KiB);
    pool.give(large, 1000 * KiB);

    size_t size = 496 * KiB; // a little too small for it
    void *small = pool.take(size);
    EXPECT_NE(small, large);
    pool.give(small, size);

    large = take(1000 * KiB);
    pool.give(large, 1000 * KiB);
    size = 500 * KiB;
    EXPECT_EQ(pool.take(size), large);
    EXPECT_EQ(size, 1000 * KiB);
    pool.give(large, size);
}

TEST_F(PagePoolTest, TrimUnmapsWhatIsKeptAndNothingElse) {
    void *used = take(128 * KiB);
    void *kept = take(256 * KiB);
    pool.give(kept, 256 * KiB);
    pool.trim();
    EXPECT_EQ(pages.mapped, 128 * KiB);
    static_cast<std::byte *>(used)[128 * KiB - 1] = std::byte{1};
    pool.give(used, 128 * KiB);
    pool.trim();
    EXPECT_EQ(pages.mapped, 0u);
}

TEST_F(PagePoolTest, AFailedMapChangesNothing) {
    pages.allowed_maps = 0;
    EXPECT_EQ(take(MiB), nullptr);
    pages.allowed_maps = SIZE_MAX;
    void *small = take(64 * KiB);
    ASSERT_NE(small, nullptr);
    pool.give(small, 64 * KiB);
    void *larger = take(256 * KiB); // only that much was ever in use, so the small one has to go
    EXPECT_EQ(pages.mapped, 256 * KiB);
    pool.give(larger, 256 * KiB);
}

// Asks from another thread, since a thread may not ask for a mutex that it holds.
class WatchesTheMutex : public CountedPages {
public:
    explicit WatchesTheMutex(PagePool &pool) : pool_(pool) {}

    void *map_pages(size_t size) override {
        watch();
        return CountedPages::map_pages(size);
    }
    void unmap_pages(void *at, size_t size) override {
        watch();
        CountedPages::unmap_pages(at, size);
    }

    int calls = 0;
    int calls_with_mutex = 0;

private:
    void watch() {
        ++calls;
        std::thread([this] {
            if (pool_.mutex().try_lock()) {
                pool_.mutex().unlock();
            } else {
                ++calls_with_mutex;
            }
        }).join();
    }

    PagePool &pool_;
};

TEST(PagePool, NobodyWaitsWhilePagesAreMappedOrUnmapped) {
    PagePool pool;
    WatchesTheMutex pages(pool);
    size_t small = 64 * KiB;
    pool.give(pool.take(small), small);
    size_t large = MiB;
    void *at = pool.take(large); // unmaps the small one first
    pages.allowed_maps = 0;
    EXPECT_EQ(pool.take(large), nullptr);
    pool.give(at, large);
    pool.trim();
    EXPECT_EQ(pages.calls, 5); // nothing was kept that could have helped the third map
    EXPECT_EQ(pages.calls_with_mutex, 0);
}

TEST_F(PagePoolTest, RefusesSizesThatCannotBeRounded) {
    for (const size_t size : {SIZE_MAX, SIZE_MAX - 4 * KiB, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(take(size), nullptr);
    }
    EXPECT_EQ(pages.maps, 0u);
}

struct Region {
    std::byte *at;
    size_t size;
    std::byte mark;
};

void fill_borders(const Region &region) { region.at[0] = region.at[region.size - 1] = region.mark; }

TEST_F(PagePoolTest, NeverHoldsMoreThanWasOnceInUse) {
    std::mt19937 random(7);
    std::vector<Region> used;
    size_t in_use = 0;
    size_t highest = 0;
    for (int step = 0; step < 2000; ++step) {
        const size_t most = 5 + step / 100 % 5 * 5; // tides, so that much is kept at times
        if (used.empty() || (used.size() < most && random() % 2 == 0)) {
            size_t size = PagePool::smallest << random() % 4;
            size += random() % size;
            auto *at = static_cast<std::byte *>(pool.take(size));
            ASSERT_NE(at, nullptr);
            used.push_back({at, size, static_cast<std::byte>(step)});
            fill_borders(used.back());
            in_use += size;
            highest = std::max(highest, in_use);
        } else {
            std::swap(used[random() % used.size()], used.back());
            const Region region = used.back();
            used.pop_back();
            ASSERT_EQ(region.at[0], region.mark) << "handed out twice";
            ASSERT_EQ(region.at[region.size - 1], region.mark) << "handed out twice";
            pool.give(region.at, region.size);
            in_use -= region.size;
        }
        ASSERT_LE(pages.mapped, highest);
    }
    EXPECT_LT(pages.maps, 500u) << "hardly anything was reused";
    for (const Region &region : used) {
        pool.give(region.at, region.size);
    }
    pool.trim();
    EXPECT_EQ(pages.mapped, 0u);
}

// A machine with 4 MiB of memory.
class SmallMachine : public CountedPages {
public:
    void *map_pages(size_t size) override {
        return mapped + size > (size_t{4} << 20) ? nullptr : CountedPages::map_pages(size);
    }
};

TEST(PagePool, GivesUpWhatItKeepsBeforeItFails) {
    SmallMachine pages;
    PagePool pool;
    std::vector<void *> regions;
    size_t small = size_t{128} << 10;
    for (int i = 0; i < 24; ++i) {
        regions.push_back(pool.take(small));
    }
    for (void *region : regions) {
        pool.give(region, small);
    }
    size_t large = size_t{3} << 20;
    void *at = pool.take(large);
    EXPECT_NE(at, nullptr);
    pool.give(at, large);
    pool.trim();
}

} // namespace
} // namespace cd
