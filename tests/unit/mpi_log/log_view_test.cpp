// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log_view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cd {
namespace {

using Entries = std::vector<std::string>;

// A CD as far as its log is concerned.
struct Logger {
    LogView view;
    int depth = 0;

    static Logger root() { return {LogView::of_root(), 0}; }

    Logger child(int sibling = 0) {
        Logger made{{}, depth + 1};
        EXPECT_TRUE(LogView::of_child(view, {depth + 1, sibling}, "0/root/0/0", made.view));
        return made;
    }

    cd_error refuses_child(int sibling) {
        LogView made;
        return LogView::of_child(view, {depth + 1, sibling}, "0/root/0/0", made).code();
    }

    void log(const std::string &text) {
        const cd_log_part part = {text.data(), text.size()};
        EXPECT_TRUE(view.log().append(&part, 1)) << text;
    }

    std::string next() {
        size_t length = 0;
        const void *entry = view.log().next(length);
        return entry != nullptr ? std::string(static_cast<const char *>(entry), length) : "(none)";
    }

    Entries rest() {
        Entries entries;
        while (view.log().replaying()) {
            entries.push_back(next());
        }
        return entries;
    }

    void advance() {
        ASSERT_TRUE(view.check_begin_now(depth, "0/root/0/0")) << message();
        view.prepare_begin_now(depth);
        view.begin_now();
    }

    Logger &restore() {
        view.rewind(depth);
        return *this;
    }
};

TEST(LogView, OfACdThatDoesNotLogIsEmpty) {
    LogView view;
    EXPECT_FALSE(view.enabled());
    EXPECT_EQ(view.extent().entries + view.extent().bytes + view.extent().remaining, 0u);
    EXPECT_TRUE(view.check_begin_now(0, "0/root/0/0"));
    view.prepare_begin_now(0);
    view.begin_now();
    view.rewind(0);
}

TEST(LogView, WhatNewerEntriesHaveReplacedIsNotCovered) {
    Logger root = Logger::root();
    Log &stream = root.view.log();
    stream.keep_newest(100'000);
    const auto covers = [&](uint64_t entry) {
        return root.view.covers(0, {stream.family(), stream.id(), entry});
    };
    root.log("first");
    EXPECT_TRUE(covers(0));
    for (int i = 0; i < 20; ++i) {
        root.log(std::string(10'000, 'x'));
    }
    const uint64_t left = stream.begin().entries;
    ASSERT_GT(left, 1u);
    EXPECT_FALSE(covers(left - 1));
    EXPECT_TRUE(covers(left));
}

TEST(LogView, ARootForgetsWhatLiesBeforeItsPointInTime) {
    Logger root = Logger::root();
    root.log("a");
    root.log("b");
    root.advance();
    EXPECT_EQ(root.view.extent().entries, 0u);
    EXPECT_EQ(root.view.extent().bytes, 0u);
    EXPECT_EQ(root.restore().next(), "(none)");
    root.log("c");
    EXPECT_EQ(root.restore().rest(), (Entries{"c"}));
    EXPECT_EQ(root.view.log().begin().entries, 2u) << "a and b were not freed";
}

TEST(LogView, ForgettingEndsAReplay) {
    for (const bool alone : {true, false}) {
        Logger root = Logger::root();
        root.log("a");
        root.log("b");
        root.restore().next();
        root.view.forget(0, alone);
        EXPECT_EQ(root.view.extent().remaining, 0u);
        EXPECT_EQ(root.view.extent().entries, 0u);
        root.log("c");
        EXPECT_EQ(root.restore().rest(), (Entries{"c"}));
        EXPECT_EQ(root.view.log().begin().entries, alone ? 2u : 0u)
            << "with descendants the entries have to stay";
    }
}

// A root and two concurrent children, of which the first views the root's log.
struct LogViewSiblings : testing::Test {
    LogViewSiblings() {
        first.log("f");
        second.log("s");
        root.log("R");
        second.log("S");
    }

    static Logger root_with_an_entry() {
        Logger made = Logger::root();
        made.log("r");
        return made;
    }

    Logger root = root_with_an_entry();
    Logger first = root.child(0);
    Logger second = root.child(1);
};

TEST_F(LogViewSiblings, AReplayRefusesASiblingThatItDoesNotKnow) {
    root.restore();
    EXPECT_EQ(root.refuses_child(2), CD_ERROR_LOG_SIBLINGS);
    EXPECT_EQ(root.refuses_child(1), CD_ERROR_NONE);
    root.rest();
    EXPECT_EQ(root.refuses_child(2), CD_ERROR_NONE) << "live again, it may be new";
}

TEST_F(LogViewSiblings, AnAdvanceOfTheParentInAReplayKeepsTheirRest) {
    root.restore();
    root.next();
    Logger again = root.child(1);
    EXPECT_EQ(again.next(), "s");
    root.advance();
    EXPECT_EQ(again.rest(), (Entries{"S"}));
    root.restore();
    EXPECT_EQ(root.rest(), (Entries{"f", "R"}));
    EXPECT_EQ(again.rest(), (Entries{"S"}));
}

// Siblings of which each has concurrent children again.
struct LogViewNested : testing::Test {
    LogViewNested() {
        for (int round = 0; round < 2; ++round) {
            for (Logger *parent : {&first, &second}) {
                Logger grandchild = parent->child(1);
                grandchild.log(std::string(parent == &first ? "f" : "s") + std::to_string(round));
            }
            if (round == 0) {
                first.advance();
            }
        }
    }

    Entries replay_of_grandchild(Logger &parent) { return parent.child(1).rest(); }

    Logger root = Logger::root();
    Logger first = root.child(0);
    Logger second = root.child(1);
};

TEST_F(LogViewNested, ARestoreRewindsToThePointInTimeOfTheRestoredCd) {
    first.restore();
    EXPECT_EQ(replay_of_grandchild(first), (Entries{"f1"}));
    EXPECT_EQ(replay_of_grandchild(second), Entries()) << "belongs to a sibling";
    second.restore();
    EXPECT_EQ(replay_of_grandchild(second), (Entries{"s0", "s1"}));
    EXPECT_EQ(replay_of_grandchild(first), Entries());
    root.restore();
    EXPECT_EQ(replay_of_grandchild(first), (Entries{"f0", "f1"}));
    EXPECT_EQ(replay_of_grandchild(second), (Entries{"s0", "s1"}));
}

TEST_F(LogViewNested, ForgettingCoversDescendantsOnly) {
    second.view.forget(second.depth, false);
    root.restore();
    second.restore();
    EXPECT_EQ(replay_of_grandchild(second), Entries());
    EXPECT_EQ(replay_of_grandchild(first), (Entries{"f0", "f1"}));
    root.restore();
    EXPECT_EQ(replay_of_grandchild(second), (Entries{"s0", "s1"})) << "the root keeps its own";
}

TEST_F(LogViewNested, AChildMadeLaterOwnsWhatComesLater) {
    Logger third = root.child(0); // takes the first one's place
    third.child(1).log("t");
    third.restore();
    EXPECT_EQ(replay_of_grandchild(third), (Entries{"t"}));
    root.restore();
    EXPECT_EQ(replay_of_grandchild(third), (Entries{"f0", "f1", "t"}));
}

} // namespace
} // namespace cd
