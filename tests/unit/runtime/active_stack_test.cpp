// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/active_stack.h"

#include "residents.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace cd {
namespace {

template <typename Body> void in_new_thread(const Body &body) {
    std::thread([&] { body(ActiveStack::of_this_thread()); }).join();
}

void activate(ActiveStack &stack, cd_handle handle) {
    stack.reserve_room();
    stack.push(handle);
    Residents::at(handle).slot->active_in = stack.thread();
}

struct ActiveStackTest : testing::Test {
    Residents residents;
    cd_handle first = residents.root("first");
    cd_handle second = residents.root("second");
    cd_handle third = residents.root("third");
};

TEST_F(ActiveStackTest, TheLastOneThatStillExistsIsActive) {
    in_new_thread([&](ActiveStack &stack) {
        EXPECT_EQ(stack.top(), nullptr);
        for (const cd_handle handle : {first, second, third}) {
            activate(stack, handle);
            EXPECT_EQ(stack.top(), handle);
        }
        const auto end = [this](cd_handle handle) {
            residents.end(handle);
            ActiveStack::look_for_ended();
        };
        end(second);
        EXPECT_EQ(stack.top(), third);
        EXPECT_EQ(*ActiveStack::possible(), 1);
        end(third);
        EXPECT_EQ(stack.top(), first);
        end(first);
        EXPECT_EQ(*ActiveStack::possible(), 0);
        EXPECT_EQ(stack.top(), nullptr);
    });
}

TEST_F(ActiveStackTest, FindsOutWhatOthersEnded) {
    in_new_thread([&](ActiveStack &stack) {
        for (const cd_handle handle : {first, second, third}) {
            activate(stack, handle);
        }
        std::thread([&] {
            residents.end(second);
            residents.end(third);
        }).join();
        const cd_handle successor = residents.root("successor"); // in one of their slots
        EXPECT_EQ(stack.top(), first);
        stack.reserve_room();
        EXPECT_EQ(stack.top(), first);
        activate(stack, successor);
        EXPECT_EQ(stack.top(), successor);
    });
}

TEST_F(ActiveStackTest, WhatEndsOldestFirstIsForgottenWithTheLast) {
    in_new_thread([&](ActiveStack &stack) {
        for (const cd_handle handle : {first, second, third}) {
            activate(stack, handle);
        }
        for (const cd_handle handle : {first, second}) {
            residents.end(handle);
            ActiveStack::look_for_ended();
            EXPECT_EQ(ActiveStack::active(), third);
        }
        residents.end(third);
        ActiveStack::look_for_ended();
        EXPECT_EQ(*ActiveStack::possible(), 0);
        activate(stack, residents.root("fourth"));
        EXPECT_EQ(*ActiveStack::possible(), 1);
    });
}

TEST_F(ActiveStackTest, EachThreadHasItsOwn) {
    uint64_t threads[3] = {};
    for (uint64_t &thread : threads) {
        in_new_thread([&](ActiveStack &stack) {
            thread = stack.thread();
            EXPECT_EQ(stack.top(), nullptr);
            activate(stack, first);
            EXPECT_EQ(&stack, &ActiveStack::of_this_thread());
        });
    }
    const uint64_t mine = ActiveStack::of_this_thread().thread();
    EXPECT_EQ(ActiveStack::of_this_thread().top(), nullptr);
    for (const uint64_t thread : threads) {
        EXPECT_NE(thread, 0u);
        EXPECT_NE(thread, mine);
    }
    EXPECT_NE(threads[0], threads[1]);
    EXPECT_NE(threads[1], threads[2]);
    EXPECT_NE(threads[0], threads[2]) << "a later thread took the number of an ended one";
}

TEST_F(ActiveStackTest, WhenItsThreadEndsItsCdsAreActiveNowhere) {
    cd_handle successor = nullptr;
    in_new_thread([&](ActiveStack &stack) {
        activate(stack, first);
        activate(stack, second);
        EXPECT_NE(Residents::at(first).slot->active_in, 0u);
        const Slot *slot = Residents::at(second).slot;
        residents.end(second);
        successor = residents.root("successor");
        ASSERT_EQ(Residents::at(successor).slot, slot);
        Residents::at(successor).slot->active_in = 12345; // another thread's
    });
    EXPECT_EQ(Residents::at(first).slot->active_in, 0u);
    EXPECT_EQ(Residents::at(successor).slot->active_in, 12345u);
}

} // namespace
} // namespace cd
