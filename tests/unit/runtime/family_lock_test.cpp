// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/family_lock.h"

#include "residents.h"
#include "runtime/active_stack.h"
#include "runtime/persistent_root.h"

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Reach = FamilyLock::Reach;

// The root, two children, two children of the first and one of the second.
struct FamilyLockTest : testing::Test {
    // Returns the letters of the CDs that are locked.
    std::string locked() const {
        std::string found;
        std::thread([&] {
            for (size_t i = 0; i < all.size(); ++i) {
                std::mutex &mutex = Residents::at(all[i]).slot->mutex;
                if (mutex.try_lock()) {
                    mutex.unlock();
                } else {
                    found += static_cast<char>('a' + i);
                }
            }
        }).join();
        return found;
    }

    std::string locked_by(cd_handle handle, Reach reach) const {
        FamilyLock lock;
        EXPECT_TRUE(lock.lock(handle, reach));
        EXPECT_EQ(&lock.domain(), &Residents::at(handle));
        return locked();
    }

    Residents residents;
    cd_handle a = residents.root();
    cd_handle b = residents.child(a);
    cd_handle c = residents.child(a);
    cd_handle d = residents.child(b);
    cd_handle e = residents.child(b);
    cd_handle f = residents.child(c);
    std::vector<cd_handle> all = {a, b, c, d, e, f};
};

TEST_F(FamilyLockTest, ReachesWhatItSays) {
    EXPECT_EQ(locked_by(b, Reach::self), "b");
    EXPECT_EQ(locked_by(d, Reach::parent), "bd");
    EXPECT_EQ(locked_by(d, Reach::ancestors), "abd");
    EXPECT_EQ(locked_by(b, Reach::ancestors), "ab");
    EXPECT_EQ(locked_by(b, Reach::family), "abde");
    EXPECT_EQ(locked_by(a, Reach::family), "abcdef");
    EXPECT_EQ(locked_by(a, Reach::parent), "a");
    EXPECT_EQ(locked(), "");
}

TEST_F(FamilyLockTest, AFailureLeavesNothingLocked) {
    residents.end(f);
    all.pop_back();
    int foreign = 0;
    for (const Reach reach : {Reach::self, Reach::parent, Reach::ancestors, Reach::family}) {
        for (const cd_handle invalid : {f, cd_handle(nullptr), cd_handle(&foreign)}) {
            FamilyLock lock;
            EXPECT_EQ(lock.lock(invalid, reach).code(), CD_ERROR_INVALID_HANDLE);
            EXPECT_EQ(locked(), "");
        }
    }
}

TEST_F(FamilyLockTest, KnowsTheCurrentCd) {
    std::thread([&] {
        FamilyLock none;
        EXPECT_EQ(none.lock(CD_CURRENT_CD, Reach::self).code(), CD_ERROR_NO_CURRENT_CD);
        ActiveStack::of_this_thread().reserve_room();
        ActiveStack::of_this_thread().push(e);
        FamilyLock lock;
        EXPECT_TRUE(lock.lock(CD_CURRENT_CD, Reach::parent));
        EXPECT_EQ(lock.domain().handle, e);
        EXPECT_EQ(locked(), "be");
    }).join();
}

TEST_F(FamilyLockTest, ReachesThroughDeepFamilies) {
    for (int i = 0; i < 20; ++i) {
        all.push_back(residents.child(all.back()));
    }
    const std::string line = "acfghijklmnopqrstuvwxyz";
    EXPECT_EQ(locked_by(all.back(), Reach::ancestors), line);
    EXPECT_EQ(locked_by(all[10], Reach::family), line);
    EXPECT_EQ(locked_by(a, Reach::family), "abcdefghijklmnopqrstuvwxyz");
    EXPECT_EQ(locked(), "");
}

TEST_F(FamilyLockTest, ADiscardedCdEndsWithTheLock) {
    const Slot *slot = Residents::at(d).slot;
    {
        FamilyLock lock;
        ASSERT_TRUE(lock.lock(d, Reach::parent));
        Resident &ending = lock.domain();
        ending.epoch = 7;
        lock.prepare_discard(1);
        lock.discard(ending);
        EXPECT_FALSE(Registry::instance().alive(d));
        EXPECT_EQ(ending.epoch, 7u); // not deleted yet: who holds the lock may look at it
        EXPECT_EQ(slot->resident, nullptr);
    }
    const auto &children = Residents::at(b).children;
    EXPECT_EQ(children, (std::vector<Domain *>{&Residents::at(e)}));
}

// A lock order other than from ancestors to descendants makes this one hang sooner or later.
TEST_F(FamilyLockTest, OperationsDoNotWaitForEachOtherInACircle) {
    const std::vector<std::pair<cd_handle, Reach>> operations = {
        {a, Reach::family}, {d, Reach::ancestors}, {e, Reach::parent},
        {b, Reach::family}, {f, Reach::ancestors}, {b, Reach::parent}};
    std::atomic<int> families = 0;
    std::vector<std::thread> threads;
    for (size_t first = 0; first < 4; ++first) {
        threads.emplace_back([&, first] {
            for (size_t i = 0; i < 3000; ++i) {
                const auto &[handle, reach] = operations[(first + i) % operations.size()];
                FamilyLock lock;
                ASSERT_TRUE(lock.lock(handle, reach));
                families += reach == Reach::family;
                ASSERT_LE(families, 1) << "both have the root, which can be locked once";
                families -= reach == Reach::family;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

// Ends a family as create_cd does when a store cannot be opened after its CDs came back.
void *end_nested_family(void *) {
    cd_handle innermost = create_cd(nullptr, nullptr, CD_COMM_LOGGING_DISABLED, "nested", nullptr);
    const cd_handle root = innermost;
    for (int level = 0; level < 60'000; ++level) {
        innermost = create_cd(innermost, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    }
    FamilyLock lock;
    EXPECT_TRUE(lock.lock(root, Reach::family));
    lock.prepare_discard(60'001);
    end_family(lock, lock.domain());
    EXPECT_FALSE(Registry::instance().alive(innermost));
    EXPECT_FALSE(Registry::instance().alive(root));
    return nullptr;
}

TEST(EndOfFamily, NeedsNoStackOfItsDepth) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{256} << 10);
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, end_nested_family, nullptr), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

} // namespace
} // namespace cd
