// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/registry.h"

#include "residents.h"
#include "runtime/fork.h"
#include "worker_thread.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cd {
namespace {

Registry &registry() { return Registry::instance(); }

cd_handle handle_of(uintptr_t value) { return Range{value, value}.address(); }

struct RegistryTest : testing::Test {
    Residents residents;
};

TEST_F(RegistryTest, FindsTheResidentOfAHandle) {
    const cd_handle handle = residents.root();
    uint64_t generation = 0;
    Slot *slot = registry().find(handle, generation);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->generation, generation);
    EXPECT_EQ(slot->resident->handle, handle);
    EXPECT_EQ(slot->resident->slot, slot);
    EXPECT_TRUE(registry().alive(handle));
}

TEST_F(RegistryTest, AReusedSlotHasAnotherHandle) {
    std::set<cd_handle> handles;
    const Slot *slot = nullptr;
    for (int i = 0; i < 100; ++i) {
        const cd_handle handle = residents.root();
        ASSERT_TRUE(slot == nullptr || slot == Residents::at(handle).slot)
            << "slots are not reused";
        slot = Residents::at(handle).slot;
        for (const cd_handle ended : handles) {
            ASSERT_FALSE(registry().alive(ended));
        }
        ASSERT_TRUE(handles.insert(handle).second);
        residents.end(handle);
        ASSERT_FALSE(registry().alive(handle)) << "at once";
    }
}

TEST_F(RegistryTest, ForeignValuesAreNoHandles) {
    const auto real = reinterpret_cast<uintptr_t>(residents.root());
    int on_the_stack = 0;
    for (const cd_handle foreign : {cd_handle(nullptr), CD_CURRENT_CD, cd_handle(&on_the_stack),
                                    handle_of(UINTPTR_MAX), handle_of(0xd), handle_of(0x10d)}) {
        EXPECT_FALSE(registry().alive(foreign)) << foreign;
    }
    for (int bit = 0; bit < 64; ++bit) {
        EXPECT_FALSE(registry().alive(handle_of(real ^ (uintptr_t{1} << bit)))) << bit;
    }
    uint64_t generation = 0;
    EXPECT_EQ(registry().find(&on_the_stack, generation), nullptr);
}

TEST_F(RegistryTest, ANameIsFreeAgainAfterTheEnd) {
    cd_handle handle = nullptr;
    ASSERT_EQ(residents.try_root("name", handle), CD_ERROR_NONE);
    cd_handle second = nullptr;
    EXPECT_EQ(residents.try_root("name", second), CD_ERROR_NAME_IN_USE);
    EXPECT_EQ(second, nullptr);
    EXPECT_EQ(residents.try_root("other name", second), CD_ERROR_NONE);
    residents.end(handle);
    EXPECT_EQ(residents.try_root("name", handle), CD_ERROR_NONE);
}

TEST_F(RegistryTest, AChildsNameDoesNotCount) {
    const cd_handle root = residents.root("name");
    const cd_handle child = residents.child(root); // its name is "", and so is the next one's
    residents.child(root);
    residents.end(child);
    cd_handle again = nullptr;
    EXPECT_EQ(residents.try_root("name", again), CD_ERROR_NAME_IN_USE);
}

TEST_F(RegistryTest, GrowsAndNumbersItsResidents) {
    const cd_handle root = residents.root();
    std::vector<cd_handle> handles = {root};
    for (int i = 0; i < 1000; ++i) {
        handles.push_back(residents.child(root));
        ASSERT_GT(Residents::at(handles[i + 1]).creation, Residents::at(handles[i]).creation);
    }
    EXPECT_TRUE(std::ranges::all_of(handles, [](cd_handle at) { return registry().alive(at); }));
    std::ranges::sort(handles);
    EXPECT_EQ(std::ranges::adjacent_find(handles), handles.end());
}

TEST_F(RegistryTest, LocksEverythingForAFork) {
    const cd_handle root = residents.root();
    const cd_handle child = residents.child(root);
    const cd_handle ended = residents.child(root);
    residents.end(ended);
    registry().lock_everything();
    std::set<cd_handle> visited;
    registry().for_each([&](const Resident &resident) { visited.insert(resident.handle); });
    bool free = true;
    std::thread([&] {
        free = Residents::at(root).slot->mutex.try_lock() ||
               Residents::at(child).slot->mutex.try_lock();
    }).join();
    registry().unlock_everything();
    EXPECT_EQ(visited, (std::set{root, child}));
    EXPECT_FALSE(free);
    for (const cd_handle handle : {root, child}) {
        ASSERT_TRUE(Residents::at(handle).slot->mutex.try_lock());
        Residents::at(handle).slot->mutex.unlock();
    }
}

TEST_F(RegistryTest, ManyThreadsInstallAndRemove) {
    const auto work = [](int thread) {
        Residents own;
        const std::string name = "root " + std::to_string(thread);
        for (int i = 0; i < 300; ++i) {
            const cd_handle root = own.root(name);
            ASSERT_TRUE(registry().alive(root));
            ASSERT_EQ(Residents::at(root).root_name, name);
            own.child(root);
            own.end(own.child(root));
            registry().lock_everything();
            registry().unlock_everything();
            while (!Residents::at(root).children.empty()) {
                own.end(static_cast<Resident *>(Residents::at(root).children.back())->handle);
            }
            own.end(root);
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back(work, thread);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

TEST_F(RegistryTest, AForkWaitsForWhoHasJustEmptiedASlot) {
    Residents own;
    const cd_handle root = own.root("ends during a fork");
    uint64_t generation = 0;
    Slot *slot = registry().find(root, generation);
    std::atomic<bool> unlocked = false;
    bool waited = false;
    std::thread forking;
    {
        slot->mutex.lock();
        const std::unique_ptr<Resident> ended = registry().remove(*slot->resident);
        forking = std::thread([&] {
            registry().lock_everything();
            waited = unlocked;
            registry().unlock_everything();
        });
        for (int i = 0; i < 100'000; ++i) {
            std::this_thread::yield();
        }
        unlocked = true;
        slot->mutex.unlock();
    }
    forking.join();
    EXPECT_TRUE(waited) << "the copy would have a free slot that stays locked for ever";
}

// The late root has its name and its slot already, but waits for the lock of that slot.
TEST_F(RegistryTest, WhatAnotherThreadWasAboutToInstallLeavesNothingInAForkedProcess) {
    ASSERT_TRUE(support_fork());
    const cd_handle ended = residents.root("ends");
    std::optional<FamilyLock> lock(std::in_place);
    ASSERT_TRUE(lock->lock(ended, FamilyLock::Reach::self));
    lock->prepare_discard(1);
    lock->discard(lock->domain());
    std::optional<FamilyLock::Lending> lending(*lock);
    std::atomic<pid_t> thread = 0;
    Residents others;
    std::thread installing([&] {
        thread = ::gettid();
        others.root("late");
    });
    while (thread == 0 || !sleeps(thread)) {
        std::this_thread::yield();
    }
    const pid_t child = ::fork();
    lending.reset();
    lock.reset();
    if (child == 0) {
        cd_handle same = nullptr;
        ::_exit(residents.try_root("late", same) == CD_ERROR_NONE ? 0 : 1);
    }
    installing.join();
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace cd
