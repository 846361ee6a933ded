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
    LogView share;
    int depth = 0;

    static Logger root() { return {LogView::of_root(), 0}; }

    Logger child(int sibling = 0) {
        Logger made{{}, depth + 1};
        EXPECT_TRUE(LogView::of_child(share, {depth + 1, sibling}, "0/root/0/0", made.share));
        return made;
    }

    cd_error refuses_child(int sibling) {
        LogView made;
        return LogView::of_child(share, {depth + 1, sibling}, "0/root/0/0", made).code();
    }

    void log(const std::string &text) {
        const cd_log_part part = {text.data(), text.size()};
        EXPECT_TRUE(share.log().append(&part, 1)) << text;
    }

    std::string next() {
        size_t length = 0;
        const void *entry = share.log().next(length);
        return entry != nullptr ? std::string(static_cast<const char *>(entry), length) : "(none)";
    }

    Entries rest() {
        Entries entries;
        while (share.log().replaying()) {
            entries.push_back(next());
        }
        return entries;
    }

    void advance() {
        ASSERT_TRUE(share.check_begin_now(depth, "0/root/0/0")) << message();
        share.prepare_begin_now(depth);
        share.begin_now();
    }

    Logger &restore() {
        share.rewind(depth);
        return *this;
    }
};

TEST(LogView, OfACdThatDoesNotLogIsEmpty) {
    LogView share;
    EXPECT_FALSE(share.enabled());
    EXPECT_EQ(share.extent().entries + share.extent().bytes + share.extent().remaining, 0u);
    EXPECT_TRUE(share.check_begin_now(0, "0/root/0/0"));
    share.prepare_begin_now(0);
    share.begin_now();
    share.rewind(0);
}

TEST(LogView, AnOnlyChildOwnsASuffixOfItsParentsLog) {
    Logger root = Logger::root();
    root.log("a");
    Logger child = root.child();
    child.log("bc");
    root.log("d");
    EXPECT_EQ(root.share.extent().entries, 3u);
    EXPECT_EQ(root.share.extent().bytes, 4u);
    EXPECT_EQ(child.share.extent().entries, 2u);
    EXPECT_EQ(child.share.extent().bytes, 3u);
    EXPECT_EQ(child.share.extent().remaining, 0u);
    EXPECT_EQ(child.restore().share.extent().remaining, 2u);
    EXPECT_EQ(child.rest(), (Entries{"bc", "d"}));
    EXPECT_EQ(root.restore().next(), "a");
    EXPECT_EQ(root.child().rest(), (Entries{"bc", "d"})) << "the child's are replayed to it";
}

TEST(LogView, WhatNewerEntriesHaveReplacedIsNotCovered) {
    Logger root = Logger::root();
    Log &stream = root.share.log();
    stream.keep_newest(100'000);
    const auto covers = [&](uint64_t entry) {
        return root.share.covers(0, {stream.family(), stream.id(), entry});
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
    EXPECT_EQ(root.share.extent().entries, 0u);
    EXPECT_EQ(root.share.extent().bytes, 0u);
    EXPECT_EQ(root.restore().next(), "(none)");
    root.log("c");
    EXPECT_EQ(root.restore().rest(), (Entries{"c"}));
    EXPECT_EQ(root.share.log().begin().entries, 2u) << "a and b were not freed";
}

TEST(LogView, AnAdvanceInAReplayKeepsWhatIsStillToBeReplayed) {
    Logger root = Logger::root();
    for (const char *text : {"a", "b", "c"}) {
        root.log(text);
    }
    EXPECT_EQ(root.restore().next(), "a");
    root.advance();
    EXPECT_EQ(root.share.extent().entries, 2u);
    EXPECT_EQ(root.share.extent().remaining, 2u);
    EXPECT_EQ(root.rest(), (Entries{"b", "c"}));
    root.log("d");
    EXPECT_EQ(root.restore().rest(), (Entries{"b", "c", "d"}));
}

TEST(LogView, AnAncestorKeepsWhatAChildForgets) {
    Logger root = Logger::root();
    root.log("a");
    Logger child = root.child();
    child.log("b");
    child.advance();
    child.log("c");
    EXPECT_EQ(child.restore().rest(), (Entries{"c"}));
    EXPECT_EQ(root.restore().rest(), (Entries{"a", "b", "c"}));
    child.share.forget(child.depth, true);
    EXPECT_EQ(child.share.extent().entries, 0u);
    EXPECT_EQ(child.restore().rest(), Entries());
    EXPECT_EQ(root.restore().rest(), (Entries{"a", "b", "c"}));
}

TEST(LogView, ForgettingEndsAReplay) {
    for (const bool alone : {true, false}) {
        Logger root = Logger::root();
        root.log("a");
        root.log("b");
        root.restore().next();
        root.share.forget(0, alone);
        EXPECT_EQ(root.share.extent().remaining, 0u);
        EXPECT_EQ(root.share.extent().entries, 0u);
        root.log("c");
        EXPECT_EQ(root.restore().rest(), (Entries{"c"}));
        EXPECT_EQ(root.share.log().begin().entries, alone ? 2u : 0u)
            << "with descendants the entries have to stay";
    }
}

// A root and two concurrent children, of which the first shares the root's log.
struct LogShareSiblings : testing::Test {
    LogShareSiblings() {
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

TEST_F(LogShareSiblings, HaveALogEach) {
    EXPECT_EQ(root.share.extent().entries, 3u);
    EXPECT_EQ(first.share.extent().entries, 2u);
    EXPECT_EQ(second.share.extent().entries, 2u);
    EXPECT_EQ(second.restore().rest(), (Entries{"s", "S"}));
    EXPECT_FALSE(root.share.log().replaying());
}

TEST_F(LogShareSiblings, OneDoesNotRewindTheOther) {
    first.restore();
    EXPECT_EQ(second.share.extent().remaining, 0u);
    EXPECT_EQ(first.rest(), (Entries{"f", "R"}));
}

TEST_F(LogShareSiblings, AreReplayedByTheirIndexAfterARestoreOfTheParent) {
    root.restore();
    EXPECT_EQ(root.next(), "r");
    Logger first_again = root.child(0);
    Logger second_again = root.child(1);
    EXPECT_EQ(second_again.share.extent().entries, 2u);
    EXPECT_EQ(second_again.rest(), (Entries{"s", "S"}));
    EXPECT_EQ(first_again.rest(), (Entries{"f", "R"}));
    EXPECT_TRUE(root.share.check_begin_now(0, "0/root/0/0"));
}

TEST_F(LogShareSiblings, TheNextOneWithAnIndexContinuesItsLog) {
    Logger next = root.child(1);
    EXPECT_EQ(next.share.extent().entries, 0u);
    next.log("n");
    EXPECT_EQ(next.restore().rest(), (Entries{"n"}));
    root.restore();
    root.rest();
    EXPECT_EQ(root.child(1).rest(), (Entries{"s", "S", "n"}));
}

TEST_F(LogShareSiblings, AReplayRefusesASiblingThatItDoesNotKnow) {
    root.restore();
    EXPECT_EQ(root.refuses_child(2), CD_ERROR_LOG_SIBLINGS);
    EXPECT_EQ(root.refuses_child(1), CD_ERROR_NONE);
    root.rest();
    EXPECT_EQ(root.refuses_child(2), CD_ERROR_NONE) << "live again, it may be new";
}

TEST_F(LogShareSiblings, AnAdvanceIsRefusedWhenASiblingWasNotReplayed) {
    root.restore();
    EXPECT_TRUE(root.share.check_begin_now(0, "0/root/0/0")) << "in a replay it may still come";
    root.rest();
    EXPECT_EQ(root.share.check_begin_now(0, "0/root/0/0").code(), CD_ERROR_LOG_SIBLINGS);
    root.share.forget(0, true);
    EXPECT_TRUE(root.share.check_begin_now(0, "0/root/0/0"));
}

TEST_F(LogShareSiblings, TheParentsAdvanceForgetsThem) {
    root.advance();
    EXPECT_EQ(root.restore().rest(), Entries());
    Logger again = root.child(1);
    EXPECT_EQ(again.rest(), Entries());
    again.log("t");
    root.restore();
    EXPECT_EQ(root.child(1).rest(), (Entries{"t"}));
}

TEST_F(LogShareSiblings, AnAdvanceOfTheParentInAReplayKeepsTheirRest) {
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
struct LogShareNested : testing::Test {
    LogShareNested() {
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

TEST_F(LogShareNested, ARestoreRewindsToThePointInTimeOfTheRestoredCd) {
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

TEST_F(LogShareNested, ForgettingCoversDescendantsOnly) {
    second.share.forget(second.depth, false);
    root.restore();
    second.restore();
    EXPECT_EQ(replay_of_grandchild(second), Entries());
    EXPECT_EQ(replay_of_grandchild(first), (Entries{"f0", "f1"}));
    root.restore();
    EXPECT_EQ(replay_of_grandchild(second), (Entries{"s0", "s1"})) << "the root keeps its own";
}

// Below the root they may belong to a CD that is still to come.
TEST_F(LogShareNested, LeftOversOfAnyDepthAreFoundAtTheRoot) {
    root.restore();
    EXPECT_EQ(root.share.check_begin_now(0, "0/root/0/0").code(), CD_ERROR_LOG_SIBLINGS);
    EXPECT_TRUE(first.share.check_begin_now(1, "0/root/0/0"));
    replay_of_grandchild(first);
    EXPECT_TRUE(first.share.check_begin_now(1, "0/root/0/0"));
    EXPECT_EQ(root.share.check_begin_now(0, "0/root/0/0").code(), CD_ERROR_LOG_SIBLINGS);
    replay_of_grandchild(second);
    EXPECT_TRUE(root.share.check_begin_now(0, "0/root/0/0"));
}

TEST_F(LogShareNested, AChildMadeLaterOwnsWhatComesLater) {
    Logger third = root.child(0); // takes the first one's place
    third.child(1).log("t");
    third.restore();
    EXPECT_EQ(replay_of_grandchild(third), (Entries{"t"}));
    root.restore();
    EXPECT_EQ(replay_of_grandchild(third), (Entries{"f0", "f1", "t"}));
}

} // namespace
} // namespace cd
