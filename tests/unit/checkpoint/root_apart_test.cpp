// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What of a root can come to its ranks, and to where.

#include "checkpoint/root_apart.h"

#include <gtest/gtest.h>

namespace cd::checkpoint {
namespace {

Asked asks_for(std::vector<std::string> directories) {
    return {std::move(directories), {}, {{0, 0}}, {}, false};
}

RootApart apart(const std::vector<Asked> &asked, const std::string &directory, int level = 0) {
    const Elsewhere seen{"solver", 2, directory, {3, 7, level, 77}, "node:1:2"};
    return root_apart("solver", {0, 1}, 2, asked, {seen});
}

std::vector<Holding> holdings(const std::vector<Asked> &asked, const std::string &directory) {
    return apart(asked, directory).holdings;
}

TEST(RootApart, HasWhatItsRanksCallByItsNameWhateverItIsToOthers) {
    std::vector<Asked> asked{asks_for({"/local", "/ssd", "/copies"}),
                             asks_for({"/local", "/ssd", "/copies"}), asks_for({"/ssd"})};
    EXPECT_EQ(holdings(asked, "/ssd"), (std::vector<Holding>{{2, "/ssd", 1, true}}));
    asked[0].flush_store = asked[1].flush_store = 2;
    asked[2] = asks_for({"/copies"});
    EXPECT_EQ(holdings(asked, "/copies"), std::vector<Holding>{});
}

TEST(RootApart, HasWhatIsAnotherRanksFirstDirectoryAsItsOwnFirst) {
    std::vector<Asked> asked{asks_for({"/n0"}), asks_for({"/n1"}), asks_for({"/n2", "/ssd"})};
    EXPECT_EQ(holdings(asked, "/n1"), (std::vector<Holding>{{2, "/n1", 0, true}}));
    EXPECT_EQ(holdings(asked, "/n2"), (std::vector<Holding>{{2, "/n2", 0, false}}));
    asked[1].listed = {"/n2"};
    EXPECT_EQ(apart(asked, "/n2").earlier, std::vector<std::string>{"/n2"});
}

// Of an earlier configuration, whatever others have there now.
TEST(RootApart, HasWhatNoneOfItsRanksAsksForBehindWhatTheyAskFor) {
    const std::vector<Asked> asked{asks_for({"/n0", "/a"}), asks_for({"/n1", "/a"}),
                                   asks_for({"/n2", "/ssd"})};
    for (const char *directory : {"/ssd", "/earlier"}) {
        const RootApart found = apart(asked, directory);
        EXPECT_EQ(found.holdings, (std::vector<Holding>{{2, directory, 2, true}}));
        EXPECT_EQ(found.earlier, std::vector<std::string>{directory});
        EXPECT_TRUE(found.is_earlier(2));
        EXPECT_FALSE(found.is_earlier(1));
        EXPECT_TRUE(apart(asked, directory, flush_level).holdings.empty());
    }
}

TEST(RootApart, HasNothingWhereItsRanksDoNotAskAlike) {
    std::vector<Asked> asked{asks_for({"/n0"}), asks_for({"/n0", "/ssd"}), asks_for({"/n0"})};
    EXPECT_EQ(holdings(asked, "/n0"), std::vector<Holding>{});
    asked[1] = asks_for({"/n0"});
    EXPECT_EQ(holdings(asked, "/n0").size(), 1U);
    asked[0] = asked[1] = asks_for({});
    EXPECT_EQ(holdings(asked, "/n0"), std::vector<Holding>{});
}

} // namespace
} // namespace cd::checkpoint
