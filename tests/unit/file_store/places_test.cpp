// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Free space in a store file, and how much of the taken space is used.

#include "failing_calls.h"
#include "file_store/allocator.h"
#include "file_store/format.h"
#include "file_store/stored_data.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace cd {
namespace {

constexpr uint64_t file_block = format::block;
using FreeStretch = Extent;

TEST(PartsOfSpace, TakeTheSmallestStretchThatHoldsAGoodPart) {
    Space space;
    space.add(10 * file_block, 20 * file_block);
    space.add(40 * file_block, 2 * file_block);
    space.add(50 * file_block, file_block);
    EXPECT_EQ(space.take_part(100 * file_block), (FreeStretch{40 * file_block, 2 * file_block}));
    EXPECT_EQ(space.take_part(100 * file_block), (FreeStretch{10 * file_block, 20 * file_block}));
}

TEST(PartsOfSpace, TakeTheLargestStretchIfNoneHoldsAGoodPart) {
    Space space;
    space.add(40 * file_block, 2 * file_block);
    space.add(50 * file_block, file_block);
    EXPECT_EQ(space.take_part(1000 * file_block), (FreeStretch{40 * file_block, 2 * file_block}));
    EXPECT_EQ(space.take_part(1000 * file_block), (FreeStretch{50 * file_block, file_block}));
    EXPECT_EQ(space.take_part(1000 * file_block), std::nullopt);
    EXPECT_EQ(space.take(64), std::nullopt);
}

TEST(PartsOfSpace, AreWholeBlocks) {
    Space space;
    space.add(10 * file_block - 64, file_block + 128);
    space.add(20 * file_block - 64, file_block + 63);
    EXPECT_EQ(space.take_part(2 * file_block), (FreeStretch{10 * file_block, file_block}));
    EXPECT_EQ(space.take_part(2 * file_block), std::nullopt);
    EXPECT_EQ(space.take(64), 10 * file_block - 64);
    EXPECT_EQ(space.take(64), 11 * file_block);
    EXPECT_EQ(space.take(file_block - 64), 20 * file_block - 64);
}

class Room : public testing::Test {
protected:
    static File memory() {
        const int fd = ::memfd_create("store", MFD_CLOEXEC);
        return {fd, "store"};
    }

    // Extents of one block each, with a free block behind each.
    void take_every_other_block(size_t count) {
        std::vector<Extent> blocks(2 * count);
        for (Extent &extent : blocks) {
            ASSERT_TRUE(volume_.reserve(file_block, extent).is_ok());
        }
        for (size_t i = 1; i < blocks.size(); i += 2) {
            volume_.release(blocks[i]);
        }
    }

    uint64_t size() {
        uint64_t size = 0;
        EXPECT_TRUE(volume_.file().size(size).is_ok());
        return size;
    }

    Volume volume_{memory(), 0};
};

TEST_F(Room, ThatIsFreeInPiecesIsUsedBeforeTheFileGrows) {
    take_every_other_block(128); // a file of 1 MiB
    const uint64_t before = size();
    Volume::Extents extents;
    ASSERT_TRUE(volume_.reserve_parts(100 * file_block, extents).is_ok());
    EXPECT_EQ(size(), before);
    EXPECT_EQ(extents.size(), 100U);
}

TEST_F(Room, ThatLiesTogetherIsOnePlace) {
    Extent first;
    ASSERT_TRUE(volume_.reserve(file_block, first).is_ok()); // of a file of 1 MiB
    Volume::Extents extents;
    ASSERT_TRUE(volume_.reserve_parts(size(), extents).is_ok());
    ASSERT_EQ(extents.size(), 1U);
    EXPECT_EQ(extents[0].offset, file_block);
}

TEST_F(Room, OfSeveralPlacesEndsWhereTheDataDo) {
    take_every_other_block(128);
    Volume::Extents extents;
    ASSERT_TRUE(volume_.reserve_parts(2 * file_block + 100, extents).is_ok());
    ASSERT_EQ(extents.size(), 3U);
    EXPECT_EQ(extents[0].length, file_block);
    EXPECT_EQ(extents[1].length, file_block);
    EXPECT_EQ(extents[2].length, 100U);
    Extent behind;
    ASSERT_TRUE(volume_.reserve(100, behind).is_ok());
    EXPECT_EQ(behind.offset, extents[2].offset + 128);
}

TEST_F(Room, OfSmallDataIsNoLongerThanTheyAre) {
    Volume::Extents extents;
    ASSERT_TRUE(volume_.reserve_parts(100, extents).is_ok());
    ASSERT_EQ(extents.size(), 1U);
    EXPECT_EQ(extents[0].length, 100U);
}

// As docs/inside/format-store.md says: a small thing may keep the two blocks that it lies in.
TEST_F(Room, IsNoMoreThanWasTakenAtATimeWithTwoBlocksForEachSmallThing) {
    std::mt19937 dice(1); // NOLINT(cert-msc51-cpp): the same each time
    std::vector<std::pair<uint64_t, Volume::Extents>> taken;
    const auto blocks_of = [](uint64_t length) {
        return length < file_block ? 2 * file_block : format::whole_blocks(length);
    };
    uint64_t now = 0;
    uint64_t most = 0;
    for (int i = 0; i < 30'000; ++i) {
        if (const bool fills = i / 3000 % 2 == 0; taken.empty() || dice() % 10 < (fills ? 7 : 3)) {
            auto &[length, extents] = taken.emplace_back();
            length = 1 + dice() % (dice() % 8 == 0 ? 10 * file_block : file_block - 1);
            ASSERT_TRUE(volume_.reserve_parts(length, extents).is_ok());
            now += blocks_of(length);
            most = std::max(most, now);
        } else {
            std::swap(taken[dice() % taken.size()], taken.back());
            for (const Extent &extent : taken.back().second) {
                volume_.release(extent);
            }
            now -= blocks_of(taken.back().first);
            taken.pop_back();
        }
        ASSERT_LE(size(), most + (1 << 20));
    }
}

class FullDisk : public ReplacedSystem {
public:
    int allocate(int, off_t, off_t) override {
        errno = ENOSPC;
        return -1;
    }
};

TEST_F(Room, IsGivenBackIfTheFileCannotGrow) {
    take_every_other_block(128);
    Volume::Extents extents;
    {
        const FullDisk full;
        EXPECT_EQ(volume_.reserve_parts(1000 * file_block, extents).code(), CD_ERROR_STORE_FULL);
    }
    ASSERT_TRUE(volume_.reserve_parts(128 * file_block, extents).is_ok());
    EXPECT_EQ(size(), 256 * file_block);
}

class UsedPlaces : public Room {
protected:
    FileRun::Runs run(size_t length) {
        Volume::Extents extents;
        EXPECT_TRUE(volume_.reserve_parts(length, extents).is_ok());
        FileRun::Runs runs(1);
        runs[0].offset = extents[0].offset;
        runs[0].length = extents[0].length;
        return runs;
    }
    bool is_wasteful() { return volume_.usage().is_wasteful(accepted_); }
    void accept() { accepted_ = volume_.usage().wasted(); }

private:
    uint64_t accepted_ = 0;
};

TEST_F(UsedPlaces, AreWastedIfLittleOfThemIsLeft) {
    FileRun place(volume_, run(1600 * file_block), 1600 * file_block);
    place.lose(90 * file_block);
    EXPECT_FALSE(place.is_sparse());
    EXPECT_FALSE(is_wasteful());
    place.lose(10 * file_block);
    EXPECT_TRUE(place.is_sparse());
    EXPECT_TRUE(is_wasteful());
    place.use(10 * file_block);
    EXPECT_FALSE(is_wasteful());
}

TEST_F(UsedPlaces, AreNotWastedIfNobodyUsesThem) {
    FileRun place(volume_, run(100 * file_block), 100 * file_block);
    place.lose(100 * file_block);
    EXPECT_FALSE(place.is_sparse());
    EXPECT_FALSE(is_wasteful());
}

TEST_F(UsedPlaces, AreNotCountedAnyMoreWhenTheyAreFree) {
    const FileRun other(volume_, run(file_block), file_block);
    {
        FileRun place(volume_, run(100 * file_block), 100 * file_block);
        place.lose(50 * file_block);
        EXPECT_TRUE(is_wasteful());
    }
    EXPECT_FALSE(is_wasteful());
}

TEST_F(UsedPlaces, ThatWereAcceptedAsWasteAreNoReasonToTryAgain) {
    FileRun place(volume_, run(100 * file_block), 100 * file_block);
    FileRun another(volume_, run(100 * file_block), 100 * file_block);
    place.lose(50 * file_block);
    accept();
    EXPECT_FALSE(is_wasteful());
    another.lose(50 * file_block);
    EXPECT_TRUE(is_wasteful());
    another.use(50 * file_block);
    place.use(50 * file_block);
    EXPECT_FALSE(is_wasteful());
    place.lose(50 * file_block); // it could, meanwhile
    EXPECT_TRUE(is_wasteful());
}

} // namespace
} // namespace cd
