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

} // namespace
} // namespace cd
