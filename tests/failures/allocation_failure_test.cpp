// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Lets every single allocation of every operation fail in turn. Afterwards the operation has failed
// with CD_ERROR_NO_MEMORY and nothing has changed; once there is memory again it does what it
// would have done at once; and nothing has leaked.

#include "allocation_faults.h"
#include "operations.h"
#include "snapshot.h"

#include "cd/control.h"
#include "memory/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

namespace faults {
namespace {

std::vector<Case> cases() {
    std::vector<Case> all = operations_in_memory();
    std::ranges::move(operations_of_the_process(), std::back_inserter(all));
    std::ranges::move(operations_in_files(), std::back_inserter(all));
    return all;
}

// The failure of a creation must not need memory either.
TEST(LackOfMemory, ThatLastsLeavesNothingOfARootThatCouldNotBeOpened) {
    World world;
    std::FILE *file = std::tmpfile();
    world.file = ::fileno(file);
    leave_a_stored_root(world);
    size_t first = 0;
    for (bool failed = true; failed;) {
        fail_request(++first, false);
        cd_handle root = create_left();
        const cd_error error = cd_last_error();
        failed = happened();
        fail_request(0);
        if (failed) {
            ASSERT_EQ(root, nullptr) << "when requests fail from the " << first << "th on";
            ASSERT_EQ(error, CD_ERROR_NO_MEMORY) << cd_last_error_message();
            root = create_left();
            ASSERT_NE(root, nullptr) << cd_last_error_message();
        }
        end_without_trace(root);
    }
    EXPECT_GT(first, 10U);
    const cd_handle root = create_left();
    ASSERT_EQ(restore_cd(root), CD_SUCCESS) << cd_last_error_message(); // ends the child
    EXPECT_EQ(commit_cd(root), CD_SUCCESS) << cd_last_error_message();
    std::fclose(file);
}

TEST(LackOfMemory, IsReportedWithTheNameOfTheCall) {
    fail_request(1);
    EXPECT_EQ(cd_inject("cd=0/a name that needs memory/0/0"), CD_FAILURE);
    fail_request(0);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NO_MEMORY);
    EXPECT_EQ(std::string(cd_last_error_message()).find("cd_inject: "), 0U)
        << cd_last_error_message();
    fail_request(1);
    EXPECT_EQ(create_cd(nullptr, nullptr, CD_COMM_LOGGING_DISABLED, "root", nullptr), nullptr);
    fail_request(0);
    EXPECT_EQ(cd_last_error(), CD_ERROR_NO_MEMORY);
    EXPECT_EQ(std::string(cd_last_error_message()).find("create_cd: "), 0U)
        << cd_last_error_message();
}

// Each test is a process of its own under ctest: nobody has asked for the pool before.
TEST(PagePool, IsThereWithoutMemory) {
    fail_request(1);
    cd::PagePool::instance().trim();
    const bool asked = happened();
    fail_request(0);
    EXPECT_FALSE(asked);
}

class AllocationFailure : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        cd::os::replace_system(&system_);
        cd::PagePool::instance().trim();
    }
    void TearDown() override { cd::os::replace_system(nullptr); }

    // One run in a world of its own. Returns whether the failure happened.
    bool run(size_t failing_request, bool only_once, std::string &outcome) {
        World world;
        std::FILE *file = std::tmpfile();
        world.file = ::fileno(file);
        World::scribble('0');
        world.root =
            create_cd(nullptr, GetParam().storage_info, CD_COMM_LOGGING_ENABLED, "root", nullptr);
        EXPECT_NE(world.root, nullptr) << cd_last_error_message();
        GetParam().prepare(world);
        const std::string before = snapshot_and_memory();
        const std::string held_before = held();

        fail_request(failing_request, only_once);
        int result = GetParam().operate(world);
        const bool failed = happened();
        const cd_error code = cd_last_error();
        fail_request(0);

        if (failed && !(GetParam().in_file && result == CD_SUCCESS)) {
            EXPECT_EQ(result, CD_FAILURE) << "request " << failing_request << " failed unnoticed";
            EXPECT_EQ(code, GetParam().error) << cd_last_error_message();
            if (GetParam().writes_memory) {
                EXPECT_EQ(held(), held_before) << "after request " << failing_request;
            } else {
                EXPECT_EQ(snapshot_and_memory(), before) << "after request " << failing_request;
            }
            result = GetParam().operate(world);
        }
        EXPECT_EQ(result, CD_SUCCESS) << cd_last_error_message();
        outcome = snapshot_and_memory();
        end_all();
        std::fclose(file);
        return failed;
    }

    static std::string held() { return snapshot() + stores_in(store_folder()); }

    static std::string snapshot_and_memory() {
        std::string text = held();
        text.append(World::memory.data(), World::memory.size());
        text.append(World::large_memory.data(), World::large_memory.size());
        return text;
    }

    static void end_all() {
        while (commit_cd(CD_CURRENT_CD) == CD_SUCCESS ||
               (cd_last_error() == CD_ERROR_HAS_CHILDREN && // that nobody has created yet
                restore_cd(CD_CURRENT_CD) == CD_SUCCESS)) {
        }
        EXPECT_EQ(cd_last_error(), CD_ERROR_NO_CURRENT_CD) << cd_last_error_message();
    }

    void try_each(bool only_once);

    System system_;
};

void AllocationFailure::try_each(bool only_once) {
    std::string undisturbed;
    ASSERT_FALSE(run(0, only_once, undisturbed));
    // The first run has made what stays, such as the thread's stack of active CDs.
    cd::PagePool::instance().trim();
    const long blocks = live_blocks();
    const long regions = system_.mapped_regions();

    size_t failures = 0;
    std::string outcome;
    while (run(failures + 1, only_once, outcome)) {
        ++failures;
        EXPECT_EQ(outcome, undisturbed) << "after request " << failures << " had failed";
        ASSERT_FALSE(HasFailure()) << "at request " << failures;
        cd::PagePool::instance().trim();
        outcome.clear();
        outcome.shrink_to_fit();
        if (!GetParam().leaves_blocks) {
            EXPECT_EQ(live_blocks(), blocks);
        }
        EXPECT_EQ(system_.mapped_regions(), regions);
    }
    EXPECT_GT(failures, 0U) << "the operation allocates nothing, so the case tests nothing";
}

TEST(Observers, ThatAreSetAgainAndAgainAreRememberedOnce) {
    const auto switch_on_and_off = [] {
        static int context;
        need(cd_observe([](const cd_event *, void *) {}, &context));
        need(cd_observe(nullptr, nullptr));
    };
    switch_on_and_off();
    const long blocks = live_blocks();
    switch_on_and_off();
    EXPECT_EQ(live_blocks(), blocks);
}

TEST_P(AllocationFailure, ChangesNothingWhicheverAllocationItIs) { try_each(true); }

// Operations in files take seconds each. Without memory for a commit, `cd_run` leaves the child.
std::vector<Case> single_calls_in_memory() {
    std::vector<Case> all = operations_in_memory();
    std::erase_if(all, [](const Case &one) { return one.name == "run"; });
    std::ranges::move(operations_of_the_process(), std::back_inserter(all));
    return all;
}

class LastingLackOfMemory : public AllocationFailure {};

TEST_P(LastingLackOfMemory, ChangesNothingFromWhicheverAllocationOn) { try_each(false); }

INSTANTIATE_TEST_SUITE_P(Operations, AllocationFailure, testing::ValuesIn(cases()),
                         [](const auto &tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Operations, LastingLackOfMemory,
                         testing::ValuesIn(single_calls_in_memory()),
                         [](const auto &tested) { return tested.param.name; });
} // namespace
} // namespace faults
