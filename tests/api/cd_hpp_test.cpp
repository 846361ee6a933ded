// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// The C++ class does not need the short names.
#define CD_NO_SHORT_NAMES
#include "cd/cd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<span>)
#include <span>
#endif

namespace {

using cd::Access;
using cd::Domain;
using cd::Result;
using cd::Scope;

static_assert(std::is_nothrow_move_constructible_v<Domain>);
static_assert(std::is_nothrow_move_assignable_v<Domain>);
static_assert(!std::is_copy_constructible_v<Domain>);
static_assert(!std::is_copy_assignable_v<Domain>);
static_assert(std::is_base_of_v<std::runtime_error, cd::Error>);
// A result must be asked whether it is one, and no count is taken for an access type.
static_assert(!std::is_convertible_v<Result<>, bool>);
static_assert(!std::is_convertible_v<Access, std::size_t>);

// What can be preserved: anything with a name, and temporaries that do not own their elements.
template <typename T, typename = void> constexpr bool can_preserve = false;
template <typename T>
constexpr bool
    can_preserve<T, std::void_t<decltype(std::declval<Domain &>().preserve(std::declval<T>()))>> =
        true;
struct View {
    int *first;
    std::size_t count;
    int *data() const { return first; }
    std::size_t size() const { return count; }
};
static_assert(can_preserve<std::vector<int> &> && can_preserve<int &> && can_preserve<View &>);
static_assert(can_preserve<View> && can_preserve<const View>);
static_assert(!can_preserve<std::vector<int>> && !can_preserve<std::array<int, 4>>);
static_assert(!can_preserve<std::string> && !can_preserve<int>);

// A count belongs to a pointer: beside an array it would easily be sizeof that array.
template <typename T, typename Count, typename = void> constexpr bool can_count = false;
template <typename T, typename Count>
constexpr bool can_count<T, Count,
                         std::void_t<decltype(std::declval<Domain &>().preserve(
                                         std::declval<T>(), std::declval<Count>())),
                                     decltype(std::declval<Domain &>().try_preserve(
                                         std::declval<T>(), std::declval<Count>()))>> = true;
static_assert(can_count<int *, std::size_t> && can_count<int *&, int>);
static_assert(can_count<int (*)[4], std::size_t>);
static_assert(can_preserve<int (&)[4]> && can_count<int (&)[4], Access>);
static_assert(!can_count<int (&)[4], std::size_t> && !can_count<int (&)[4], int>);
static_assert(!can_count<int (&)[4][4], std::size_t> && !can_count<char (&)[4], std::size_t>);
static_assert(!can_count<int *, addr_type> && !can_count<int (&)[4], addr_type>);

bool alive(cd_handle handle) {
    cd_info info;
    return cd_query(handle, &info) == CD_SUCCESS;
}

// The code of the cd::Error that body throws.
template <typename Body> cd_error thrown_by(const Body &body) {
    try {
        body();
    } catch (const cd::Error &error) {
        EXPECT_STRNE(error.what(), "");
        return error.code();
    }
    return CD_ERROR_NONE;
}

void expect_failure(const Result<> &result, cd_error code) {
    EXPECT_FALSE(result);
    EXPECT_EQ(result.code(), code);
    EXPECT_NE(result.message(), "");
    EXPECT_EQ(thrown_by([&] { result.value(); }), code);
}

class CdHpp : public testing::Test {
protected:
    CdHpp() { unsetenv("CD_STORAGE_INFO"); }
};

class CdHppRoot : public CdHpp {
protected:
    Domain root = Domain::root("solver");
};

TEST_F(CdHpp, RootIsCommittedAtTheEndOfItsScope) {
    cd_handle handle = nullptr;
    {
        const Domain root = Domain::root("solver");
        handle = root.handle();
        EXPECT_TRUE(root);
        EXPECT_EQ(root.name(), "0/solver/0/0");
        EXPECT_TRUE(alive(handle));
    }
    EXPECT_FALSE(alive(handle));
    EXPECT_TRUE(Domain::root("solver")); // the name is free again
}

TEST_F(CdHpp, RootLogsAndStoresAsAsked) {
    const Domain root = Domain::root("solver", CD_COMM_LOGGING_ENABLED, "checksum=crc32c");
    EXPECT_EQ(root.query().logging, 1);
    EXPECT_EQ(root.child().query().logging, 1);
    expect_failure(Domain::try_root("other", CD_COMM_LOGGING_INHERIT),
                   CD_ERROR_LOGGING_INHERIT_AT_ROOT);
    expect_failure(Domain::try_root("other", CD_COMM_LOGGING_DISABLED, "colour=red"),
                   CD_ERROR_STORAGE_KEY);
    expect_failure(root.try_child("colour=red"), CD_ERROR_STORAGE_KEY);
}

TEST_F(CdHppRoot, PreservedObjectsComeBack) {
    struct State {
        int step;
        double residual;
    };
    State state = {1, 0.5};
    int grid[2][2] = {{1, 2}, {3, 4}};
    std::array<int, 2> pair = {5, 6};
    std::vector<double> field = {7, 8, 9};
    std::string text = "ten";
    root.preserve(state);
    root.preserve(grid);
    root.preserve(pair);
    root.preserve(field);
    root.preserve(text);
    EXPECT_EQ(root.query().bytes,
              sizeof state + sizeof grid + sizeof pair + 3 * sizeof(double) + 3);
    EXPECT_EQ(root.query().read_write, root.query().bytes);

    state = {2, 0.25};
    grid[1][1] = 0;
    pair = {0, 0};
    field[2] = 0;
    text[0] = 'd';
    root.restore();
    EXPECT_EQ(state.step, 1);
    EXPECT_EQ(state.residual, 0.5);
    EXPECT_EQ(grid[1][1], 4);
    EXPECT_EQ(pair, (std::array<int, 2>{5, 6}));
    EXPECT_EQ(field, (std::vector<double>{7, 8, 9}));
    EXPECT_EQ(text, "ten");
}

TEST_F(CdHppRoot, APointerAndACountNameElements) {
    int values[4] = {1, 2, 3, 4};
    int *pointer = values;
    root.preserve(pointer + 1, 2);
    EXPECT_EQ(root.query().bytes, 2 * sizeof(int));
    root.preserve(&pointer, 1);
    EXPECT_EQ(root.query().bytes, 2 * sizeof(int) + sizeof(int *));
    for (int &value : values) {
        value = 0;
    }
    pointer = nullptr;
    root.restore();
    EXPECT_EQ(pointer, values);
    EXPECT_EQ(values[0], 0);
    EXPECT_EQ(values[1], 2);
    EXPECT_EQ(values[2], 3);
    EXPECT_EQ(values[3], 0);
}

TEST_F(CdHppRoot, AnEmptyContainerIsLegal) {
    std::vector<int> nothing;
    root.preserve(nothing);
    EXPECT_EQ(root.query().bytes, 0U);
}

TEST_F(CdHppRoot, AViewStandsForItsElements) {
    std::array<int, 4> values = {1, 2, 3, 4};
    root.preserve(View{values.data(), 1}, Access::read_only);
    EXPECT_TRUE(root.try_preserve(View{values.data() + 3, 1}));
#if defined(__cpp_lib_span)
    const std::span<int> named(values.data() + 1, 1);
    root.preserve(named);
    root.preserve(std::span(values).subspan(2, 1));
    values[1] = values[2] = 0;
#endif
    values[0] = values[3] = 0;
    root.restore();
    EXPECT_EQ(values, (std::array<int, 4>{1, 2, 3, 4}));
}

TEST_F(CdHppRoot, AccessAndScopeAreTheCallers) {
    int written = 1;
    int only_read = 2;
    int local[2] = {3, 4};
    Domain child = root.child();
    child.preserve(written);
    child.preserve(only_read, Access::read_only);
    child.preserve(local, Access::read_write, Scope::constrained);
    EXPECT_EQ(child.query().bytes, sizeof written + sizeof only_read + sizeof local);
    EXPECT_EQ(child.query().read_write, sizeof written + sizeof local);
    child.commit();
    EXPECT_EQ(root.query().bytes, sizeof written + sizeof only_read);
    EXPECT_EQ(root.query().read_write, sizeof written);
}

TEST_F(CdHppRoot, AdvanceMovesThePointInTime) {
    int step = 1;
    root.preserve(step);
    step = 2;
    root.advance();
    EXPECT_EQ(root.query().epoch, 1U);
    step = 3;
    root.restore();
    EXPECT_EQ(step, 2);
}

TEST_F(CdHppRoot, ChildGivesItsDataToTheParentAtTheEndOfItsScope) {
    int total = 1;
    {
        Domain child = root.child();
        EXPECT_EQ(child.name(), "0/solver/1/0");
        child.preserve(total);
        total = 2;
    }
    EXPECT_EQ(root.query().children, 0);
    root.restore();
    EXPECT_EQ(total, 1);
}

TEST_F(CdHppRoot, ParentStaysRestorableWhenAnExceptionEndsTheChild) {
    int total = 1;
    try {
        Domain child = root.child();
        child.preserve(total);
        total = 2;
        throw std::runtime_error("the step went wrong");
    } catch (const std::runtime_error &) {
        EXPECT_EQ(root.query().children, 0);
        root.restore();
    }
    EXPECT_EQ(total, 1);
}

TEST_F(CdHppRoot, AfterTheCommitTheObjectNamesNoCd) {
    root.commit();
    EXPECT_FALSE(root);
    EXPECT_EQ(root.handle(), nullptr);
    expect_failure(root.try_commit(), CD_ERROR_INVALID_HANDLE);
}

TEST_F(CdHpp, MovingHandsTheCdOver) {
    Domain first = Domain::root("first");
    Domain second = Domain::root("second");
    const cd_handle old = second.handle();
    const cd_handle kept = first.handle();
    second = std::move(first);
    EXPECT_FALSE(alive(old));
    EXPECT_EQ(second.handle(), kept);
    Domain third(std::move(second));
    EXPECT_EQ(third.handle(), kept);
    EXPECT_TRUE(alive(kept));
    Domain &same = third;
    third = std::move(same);
    EXPECT_TRUE(alive(third.handle()));
}

TEST_F(CdHpp, AnObjectWithoutACdRefusesEverything) {
    int value = 0;
    Domain none;
    EXPECT_FALSE(none);
    expect_failure(none.try_child(), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_preserve(value), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_preserve(&value, 1), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_advance(), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_restore(), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_commit(), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_query(), CD_ERROR_INVALID_HANDLE);
    expect_failure(none.try_name(), CD_ERROR_INVALID_HANDLE);
    const std::function<void()> throwing[] = {
        [&] { (void)none.child(); },       [&] { none.preserve(value); },
        [&] { none.preserve(&value, 1); }, [&] { none.advance(); },
        [&] { none.restore(); },           [&] { none.commit(); },
        [&] { (void)none.query(); },       [&] { (void)none.name(); }};
    for (const auto &call : throwing) {
        EXPECT_EQ(thrown_by(call), CD_ERROR_INVALID_HANDLE);
    }
    EXPECT_EQ(thrown_by([] { Domain::root(""); }), CD_ERROR_NAME_MISSING);
}

TEST_F(CdHpp, ResultsCarryTheirValue) {
    Result<Domain> root = Domain::try_root("solver");
    ASSERT_TRUE(root);
    EXPECT_EQ(root.code(), CD_ERROR_NONE);
    EXPECT_EQ(root.message(), "");
    Result<Domain> child = root->try_child();
    ASSERT_TRUE(child);
    EXPECT_EQ((*child).name(), "0/solver/1/0");
    EXPECT_EQ(*child->try_name(), "0/solver/1/0");
    EXPECT_EQ(root.value().try_query()->children, 1);
    EXPECT_TRUE(child->try_commit());
    int value = 1;
    EXPECT_TRUE(root->try_preserve(value));
    EXPECT_TRUE(root->try_advance());
    EXPECT_TRUE(root->try_restore());
    const Domain moved = std::move(root).value();
    EXPECT_EQ(moved.query().bytes, sizeof value);
}

// The sentence is a copy: the library's own is gone after the next call.
TEST_F(CdHpp, ErrorsKeepTheirSentence) {
    const Result<Domain> failed = Domain::try_root("a/b");
    const std::string sentence = cd_last_error_message();
    const Domain other = Domain::root("other");
    ASSERT_STREQ(cd_last_error_message(), "");
    EXPECT_EQ(failed.message(), sentence);
    EXPECT_NE(sentence.find("a/b"), std::string::npos) << sentence;
}

TEST_F(CdHppRoot, ALengthThatDoesNotFitIsRefused) {
    double value = 0;
    // In bytes this would be 8 after the overflow.
    const std::size_t count = std::size_t(-1) / sizeof value + 2;
    expect_failure(root.try_preserve(&value, count), CD_ERROR_RANGE_WRAPS);
}

TEST_F(CdHppRoot, RestoreOfAParentEndsItsChildren) {
    int value = 1;
    Domain child = root.child();
    child.preserve(value);
    value = 2;
    root.restore();
    EXPECT_EQ(value, 1);
    expect_failure(child.try_advance(), CD_ERROR_INVALID_HANDLE);
}

TEST_F(CdHpp, ACdWithChildrenOutlivesItsObject) {
    cd_handle handle = nullptr;
    Domain child;
    {
        Domain root = Domain::root("solver");
        handle = root.handle();
        child = root.child();
    }
    EXPECT_TRUE(alive(handle));
    child.commit();
    EXPECT_EQ(commit_cd(handle), CD_SUCCESS);
}

TEST_F(CdHppRoot, HandleReachesTheWholeInterface) {
    int value = 1;
    root.preserve(value);
    Domain child = root.child();
    ASSERT_EQ(
        add_to_cd_via_parent(child.handle(), {&value, sizeof value, CD_READ_ONLY, CD_GLOBAL}, 1),
        CD_SUCCESS);
    EXPECT_EQ(child.query().bytes, sizeof value);
    EXPECT_EQ(child.query().stored_bytes, 0U);
}

} // namespace
