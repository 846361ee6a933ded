// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "objects/undo_list.h"

#include <gtest/gtest.h>
#include <string>

namespace cd::logger {
namespace {

constexpr uint64_t object = 7;
constexpr uint64_t other = 8;

class UndoListTest : public testing::Test {
protected:
    Undo noting(uint64_t handle, uint64_t which, char letter) {
        return {{handle, which}, [this, letter] { run += letter; }};
    }
    void run_all() {
        list.run(next_moment(), [](const cd_log_place &) { return true; });
    }

    UndoList list;
    std::string run;
};

TEST_F(UndoListTest, RunsTheLatestFirst) {
    list.add({}, noting(object, 1, 'a'));
    list.add({}, noting(0, 0, 'b'));
    list.add({}, noting(other, 1, 'c'));
    run_all();
    EXPECT_EQ(run, "cba");
    run_all();
    EXPECT_EQ(run, "cba");
}

TEST_F(UndoListTest, RunsOrForgetsWhatIsWanted) {
    list.add({0, 0, 1}, noting(object, 1, 'a'));
    list.add({0, 0, 2}, noting(object, 2, 'b'));
    list.add({0, 0, 3}, noting(object, 1, 'c'));
    list.forget(next_moment(), [](const cd_log_place &place) { return place.entry == 3; });
    list.run(next_moment(), [](const cd_log_place &place) { return place.entry >= 2; });
    EXPECT_EQ(run, "b");
    run_all();
    EXPECT_EQ(run, "ba");
}

// The list does not judge changes that were added after the moment given.
TEST_F(UndoListTest, LeavesAloneWhatWasAddedLater) {
    const auto all = [](const cd_log_place &) { return true; };
    list.add({}, noting(object, 1, 'a'));
    const Moment before = next_moment();
    list.add({}, noting(object, 2, 'b'));
    list.forget(before, all);
    list.run(before, all);
    EXPECT_EQ(run, "");
    run_all();
    EXPECT_EQ(run, "b");
}

// No restore goes back to a moment between changes of one part.
TEST_F(UndoListTest, RunsOnlyTheOldestOfAPart) {
    for (const uint64_t handle : {object, uint64_t{0}}) {
        run.clear();
        list.add({0, 0, 1}, noting(handle, 1, 'a'));
        list.add({0, 0, 2}, noting(other, 1, 'b'));
        list.add({0, 0, 3}, noting(handle, 1, 'c'));
        run_all();
        EXPECT_EQ(run, "ba") << handle;
        run_all();
        EXPECT_EQ(run, "ba") << handle;
    }
}

TEST_F(UndoListTest, KeepsAllOfWhatIsNoPart) {
    for (const char letter : {'a', 'b', 'c', 'd'}) {
        list.add({}, noting(0, 0, letter));
    }
    run_all();
    EXPECT_EQ(run, "dcba");
}

TEST_F(UndoListTest, KnowsNothingOfWhatIsForgotten) {
    list.add({}, noting(object, 1, 'a'));
    list.forget(next_moment(), [](const cd_log_place &) { return true; });
    list.add({}, noting(other, 1, 'b'));
    list.forget_object(object);
    run_all();
    EXPECT_EQ(run, "b");
}

TEST_F(UndoListTest, LeavesAloneWhatHasGone) {
    list.add({}, noting(object, 1, 'a'));
    list.add({}, noting(other, 1, 'b'));
    list.add({}, noting(object, 2, 'c'));
    list.forget_object(object);
    list.add({}, noting(object, 1, 'd')); // another one of that handle
    run_all();
    EXPECT_EQ(run, "db");
}

// An attribute callback of the program frees an object during the undoing.
TEST_F(UndoListTest, ObjectGoesWhileOthersAreTakenBack) {
    list.add({}, noting(other, 1, 'a'));
    list.add({}, noting(object, 1, 'b'));
    list.add({}, {{other, 2}, [this] {
                      run += 'c';
                      list.forget_object(object);
                  }});
    run_all();
    EXPECT_EQ(run, "ca");
}

} // namespace
} // namespace cd::logger
