// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Points in time that are held while the store goes on.

#include "held_root.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace cd {
namespace {

class Held : public HeldRoot {
protected:
    static constexpr size_t cells = 40;
    static constexpr size_t cell = 3000;

    // Whatever a program does between two points in time, and the next of these. Entries come and
    // go, so that the metadata are moved every now and then.
    void go_on(int round) {
        std::vector<cd_addrspec> some;
        for (size_t i = 0; i < cells; ++i) {
            if ((i + static_cast<size_t>(round)) % 3 != 0) {
                some.push_back({cells_.data() + i * cell, cell - i, CD_READ_WRITE, CD_GLOBAL});
            }
        }
        ASSERT_EQ(add_to_cd_via_copy(root_, some.data(), static_cast<int>(some.size()), nullptr),
                  CD_SUCCESS);
        std::ranges::fill(cells_, static_cast<char>(round));
        advance();
        if (round % 5 == 0) {
            some.resize(some.size() / 2);
            ASSERT_EQ(delete_from_cd(root_, some.data(), static_cast<int>(some.size())),
                      CD_SUCCESS);
        }
    }

    std::vector<char> cells_ = std::vector<char>(cells * cell);
};

TEST_F(Held, PointStaysAsItWasHoweverTheStoreGoesOn) {
    begin(",sync=none");
    std::vector<std::pair<std::string, std::unique_ptr<HeldPoint>>> points;
    const uint64_t first = loaded(store()).header.generation;
    for (int round = 1; round <= 120; ++round) {
        go_on(round);
        if (round % 10 == 3) {
            points.emplace_back(described(store()), hold());
        }
    }
    EXPECT_GT(loaded(store()).header.generation, first + 2); // the metadata have moved away twice
    for (size_t i = 0; i < points.size(); ++i) {
        ASSERT_TRUE(points[i].second->write_image(image(static_cast<int>(i)))) << message();
        EXPECT_EQ(described(image(static_cast<int>(i))), points[i].first) << i;
    }
}

// The rules give up such a place before they ask for it; the store does not rely on that.
TEST_F(Held, APlaceThatSomebodyElseHasIsNotWrittenOver) {
    begin(",sync=none");
    add(cells_.data(), cell);
    FamilyLock lock;
    ASSERT_TRUE(lock.lock(root_, FamilyLock::Reach::self));
    const std::unique_ptr<Transaction> transaction = lock.domain().store->begin();
    const auto begin_of_memory = reinterpret_cast<uintptr_t>(cells_.data());
    const Range memory = {begin_of_memory, begin_of_memory + cell};
    Piece place;
    ASSERT_TRUE(transaction->keep(memory, place)) << message();
    const Piece first = place.share();
    const Block *shared = &place.block();
    ASSERT_TRUE(transaction->keep(memory, place)) << message();
    EXPECT_NE(&place.block(), shared);
    const Block *alone = &place.block();
    ASSERT_TRUE(transaction->keep(memory, place)) << message();
    EXPECT_EQ(&place.block(), alone);
}

TEST_F(Held, ImagesAreWrittenByOtherThreadsMeanwhile) {
    begin(",sync=none");
    go_on(1);
    for (int life = 0; life < 3; ++life) {
        go_on(2);
        const std::string point = described(store());
        auto held = hold();
        std::atomic<bool> done = false;
        std::atomic<int> wrong = 0;
        const auto write = [&](int number) {
            for (int times = 0; times < 2 || !done; ++times) {
                wrong += held->write_image(image(number)).is_ok() ? 0 : 1;
                wrong += described(image(number)) == point ? 0 : 1;
                std::filesystem::remove(image(number));
            }
        };
        std::thread one(write, 1);
        std::thread other(write, 2);
        for (int round = 3; round < 40; ++round) {
            go_on(round);
        }
        done = true;
        one.join();
        other.join();
        std::thread([&] { held.reset(); }).join();
        EXPECT_EQ(wrong, 0);
    }
}

TEST_F(Held, PlacesAreUsedAgainOnceThePointIsReleased) {
    begin(",sync=none");
    for (int round = 1; round <= 30; ++round) {
        go_on(round);
        const auto held = hold();
        go_on(round);
    }
    const auto size = std::filesystem::file_size(store());
    for (int round = 1; round <= 90; ++round) {
        go_on(round);
        const auto held = hold();
        go_on(round);
    }
    EXPECT_LE(std::filesystem::file_size(store()), size + size / 4);
}

TEST_F(Held, PointOutlivesTheRoot) {
    begin();
    go_on(1);
    const std::string point = described(store());
    const auto held = hold();
    ASSERT_EQ(commit_cd(root_), CD_SUCCESS);
    root_ = nullptr;
    ASSERT_TRUE(held->write_image(image())) << message();
    EXPECT_EQ(described(image()), point);
}

} // namespace
} // namespace cd
