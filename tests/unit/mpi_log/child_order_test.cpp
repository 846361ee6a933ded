// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/child_order.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace cd {
namespace {

using Event = ChildOrder::Event;

class ChildOrderTest : public testing::Test {
protected:
    // h: home, e: elsewhere, ".": the parent ends.
    void take(const std::string &events, bool live = false) {
        for (const char event : events) {
            order.reserve_room();
            order.take(event == 'h'   ? Event::home
                       : event == 'e' ? Event::elsewhere
                                      : Event::end,
                       live);
        }
    }

    // From the cursor on; "?": unknown.
    std::string rest() {
        std::string events;
        for (std::optional<Event> event; (event = order.next()) && *event != Event::unknown;) {
            events += *event == Event::home ? "h" : *event == Event::elsewhere ? "e" : ".";
            order.set_cursor(order.cursor() + 1);
        }
        return order.next() ? events + "?" : events;
    }

    std::string all() {
        order.set_cursor(0);
        return rest();
    }

    ChildOrder order;
};

TEST_F(ChildOrderTest, ComesBackAsItWasTaken) {
    take("hheh.eeh");
    EXPECT_EQ(rest(), "");
    EXPECT_EQ(all(), "hheh.eeh");
    order.set_cursor(2);
    take("eh");
    EXPECT_EQ(rest(), ".eeh");
}

TEST_F(ChildOrderTest, OtherEventsMakeWhatFollowsUnknownUntilAllIsLive) {
    take("hheh");
    order.set_cursor(0);
    take("he");
    EXPECT_EQ(rest(), "?");
    EXPECT_EQ(all(), "h?");
    take("he");
    EXPECT_EQ(rest(), "?");
    take("e", true);
    EXPECT_EQ(all(), "he");
}

TEST_F(ChildOrderTest, OneThatGivesUpLeavesItKnownFromBefore) {
    take("hhe.eh.");
    order.set_cursor(0);
    take("h.e");
    EXPECT_EQ(rest(), "?");
    EXPECT_EQ(all(), "hhe.eh") << "and what comes behind the end is new";
}

TEST_F(ChildOrderTest, TheLastEndMayHaveBeenOneThatGaveUp) {
    take("hh.");
    order.set_cursor(2);
    EXPECT_EQ(rest(), "");
    take("e.");
    EXPECT_EQ(all(), "hhe");
}

TEST_F(ChildOrderTest, UntoldOnesAreAheadUntilTheCursorHasPassedThem) {
    take("he");
    order.mark_untold(false);
    take("e");
    order.mark_untold(true);
    take("e.");
    EXPECT_EQ(order.untold_ahead(), 0U);
    EXPECT_TRUE(order.untold_beside());
    order.set_cursor(0);
    EXPECT_EQ(order.untold_ahead(), 3U);
    EXPECT_FALSE(order.untold_next());
    order.set_cursor(2);
    EXPECT_TRUE(order.untold_next());
    order.set_cursor(3);
    EXPECT_EQ(order.untold_ahead(), 0U);
    EXPECT_FALSE(order.untold_next());
}

TEST_F(ChildOrderTest, UntoldOnesMayTurnOutLater) {
    take("e");
    order.mark_untold(true);
    const uint64_t before = order.untold_until();
    take("ee");
    order.mark_untold(false);
    order.tell_from(before);
    order.set_cursor(0);
    EXPECT_EQ(order.untold_ahead(), 1U);
    order.tell_from(0);
    EXPECT_EQ(order.untold_ahead(), 0U);
    take("eee");
    order.mark_untold(false);
    order.set_cursor(0);
    EXPECT_FALSE(order.untold_next()) << "those before were told";
    EXPECT_FALSE(order.untold_beside());
}

TEST_F(ChildOrderTest, UntoldOnesStayAheadWhereAReexecutionDidOthersUntilAllIsLive) {
    take("hee");
    order.mark_untold(false);
    order.set_cursor(0);
    take("e");
    EXPECT_EQ(rest(), "?");
    order.set_cursor(0);
    EXPECT_EQ(order.untold_ahead(), 3U);
    take("e", true);
    order.set_cursor(0);
    EXPECT_EQ(order.untold_ahead(), 0U);
}

TEST_F(ChildOrderTest, UntoldOnesAreForgottenByTrim) {
    take("e");
    order.mark_untold(true);
    order.trim();
    take("he");
    order.mark_untold(false);
    order.set_cursor(0);
    EXPECT_FALSE(order.untold_next());
    EXPECT_FALSE(order.untold_beside());
}

TEST_F(ChildOrderTest, TrimForgetsWhatIsBeforeTheCursor) {
    take("hhe.hh");
    order.mark_beside();
    order.set_cursor(3);
    order.trim();
    EXPECT_TRUE(order.beside());
    EXPECT_EQ(all(), ".hh");
    order.trim();
    EXPECT_FALSE(order.beside());
    EXPECT_EQ(all(), "");
    take("e");
    EXPECT_EQ(all(), "e");
}

} // namespace
} // namespace cd
