// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/biased_lock.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace cd {
namespace {

// How often others asked the system for help.
struct CountedOrders : ReplacedSystem {
    void order_other_threads() override {
        ++orders;
        System::order_other_threads();
    }
    std::atomic<int> orders = 0;
};

TEST(OwnedLockTest, KeepsOwnerAndOthersApart) {
    BiasedLock lock;
    int64_t sum = 0; // what is not kept apart gets lost here
    constexpr int others = 2;
    constexpr int each = 2000;
    std::atomic<int> running = others;
    const auto add_some = [&] {
        for (int i = 0; i < each; ++i) {
            const std::scoped_lock hold(lock);
            ++sum;
        }
        --running;
    };
    lock.own();
    std::vector<std::thread> threads;
    for (int i = 0; i < others; ++i) {
        threads.emplace_back(add_some);
    }
    int64_t added = 0;
    while (running > 0) {
        const std::scoped_lock hold(lock);
        ++sum;
        ++added;
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum, added + others * each);
    lock.disown();
}

TEST(OwnedLockTest, KeepsApartWhileOwnersChange) {
    BiasedLock lock;
    int64_t sum = 0;
    constexpr int each = 2000;
    const auto add_some = [&] {
        for (int i = 0; i < each; ++i) {
            lock.own();
            for (int k = 0; k < 5; ++k) {
                const std::scoped_lock hold(lock);
                ++sum;
            }
            lock.disown();
        }
    };
    std::thread first(add_some);
    std::thread second(add_some);
    add_some();
    first.join();
    second.join();
    EXPECT_EQ(sum, 3 * 5 * each);
}

TEST(OwnedLockTest, AsksTheSystemOnlyForOthersThanTheOwner) {
    CountedOrders system;
    BiasedLock lock;
    lock.own();
    for (int i = 0; i < 3; ++i) {
        const std::scoped_lock hold(lock);
    }
    EXPECT_EQ(system.orders, 0);
    std::thread([&] { const std::scoped_lock hold(lock); }).join();
    EXPECT_EQ(system.orders, 1);
    lock.disown();
    std::thread([&] { const std::scoped_lock hold(lock); }).join();
    EXPECT_EQ(system.orders, 1);
}

TEST(OwnedLockTest, HasOneOwnerAtATime) {
    CountedOrders system;
    BiasedLock lock;
    lock.own();
    std::thread([&] {
        lock.own();
        const std::scoped_lock hold(lock);
        lock.disown();
    }).join();
    EXPECT_EQ(system.orders, 1);
    { const std::scoped_lock hold(lock); }
    EXPECT_EQ(system.orders, 1) << "disowned by another thread";
}

TEST(OwnedLockTest, OthersWaitForTheOwner) {
    CountedOrders system;
    BiasedLock lock;
    lock.own();
    lock.lock();
    std::atomic<bool> entered = false;
    std::thread other([&] {
        const std::scoped_lock hold(lock);
        entered = true;
    });
    while (system.orders == 0) { // the other thread has not come to the lock
        std::this_thread::yield();
    }
    for (int i = 0; i < 1000 && !entered; ++i) {
        std::this_thread::yield();
    }
    EXPECT_FALSE(entered);
    lock.unlock();
    other.join();
    EXPECT_TRUE(entered);
}

} // namespace
} // namespace cd
