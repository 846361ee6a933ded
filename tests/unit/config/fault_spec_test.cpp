// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/fault_spec.h"

#include <gtest/gtest.h>

#include <string>

namespace cd {
namespace {

std::vector<Injection> injections_in(const char *text) {
    std::vector<Injection> injections;
    EXPECT_TRUE(parse_injections(text, "test", injections)) << message();
    return injections;
}

TEST(InjectionTest, NamesACdByItsIdentity) {
    const auto injections = injections_in("cd=2/a root/1/0,at=3,times=4");
    ASSERT_EQ(injections.size(), 1U);
    EXPECT_EQ(injections[0].rank, 2);
    EXPECT_EQ(injections[0].root_name, "a root");
    EXPECT_EQ(injections[0].depth, 1);
    EXPECT_EQ(injections[0].sibling, 0);
    EXPECT_EQ(injections[0].at, 3);
    EXPECT_EQ(injections[0].times, 4);
}

TEST(InjectionTest, AStarIsAnyAndTheFirstOccurrenceFailsOnce) {
    const auto injections = injections_in("cd=*/*/*/*");
    ASSERT_EQ(injections.size(), 1U);
    EXPECT_FALSE(injections[0].rank || injections[0].root_name || injections[0].depth ||
                 injections[0].sibling);
    EXPECT_EQ(injections[0].at, 1);
    EXPECT_EQ(injections[0].times, 1);
}

TEST(InjectionTest, SeveralAreSeparatedBySemicolons) {
    const auto injections = injections_in("cd=0/a/0/0;at=2,cd=1/b/0/0,times=all");
    ASSERT_EQ(injections.size(), 2U);
    EXPECT_EQ(injections[1].root_name, "b");
    EXPECT_EQ(injections[1].at, 2);
    EXPECT_GT(injections[1].times, 1'000'000);
    EXPECT_TRUE(injections_in("").empty());
}

struct Bad {
    const char *text;
    const char *named; // what the sentence has to name
};

class BadInjection : public testing::TestWithParam<Bad> {};

TEST_P(BadInjection, IsRefusedWithWhatIsAllowedAndNothingIsTaken) {
    std::vector<Injection> injections(1);
    const std::string text = std::string("cd=0/good/0/0;") + GetParam().text;
    EXPECT_EQ(parse_injections(text, "the origin", injections).code(), CD_ERROR_ARGUMENT);
    const std::string sentence = message();
    EXPECT_EQ(sentence.find("the origin: "), 0U) << sentence;
    EXPECT_NE(sentence.find(GetParam().named), std::string::npos) << sentence;
    EXPECT_EQ(injections.size(), 1U);
}

constexpr Bad bad[] = {
    {"", "cd=RANK/NAME/DEPTH/SIBLING"},
    {"cd=0/a/0/0,", "none of cd=, at= and times="},
    {"cd", "none of cd=, at= and times="},
    {"rank=1,cd=0/a/0/0", "\"rank=1\""},
    {"cd =0/a/0/0", "without blanks"},
    {"at=1", "\"at=1\" does not say which CD fails"},
    {"cd=0/a/0/0,cd=0/b/0/0", "cd is given twice"},
    {"cd=", "RANK/NAME/DEPTH/SIBLING"},
    {"cd=a/0/0", "cd=a/0/0 is not allowed"},
    {"cd=0/a/0/0/0", "cd=0/a/0/0/0 is not allowed"},
    {"cd=0//0/0", "is not allowed"},
    {"cd=-1/a/0/0", "is not allowed"},
    {"cd=0/a/0x/0", "is not allowed"},
    {"cd=0/a/0/", "is not allowed"},
    {"cd=0/a/0/99999999999", "is not allowed"},
    {"cd=0/a/0/0,at=0", "at=0 is not allowed; at is an integer from 1"},
    {"cd=0/a/0/0,at=x", "at=x is not allowed"},
    {"cd=0/a/0/0,times=0", "times=0 is not allowed; times is an integer from 1, or all"},
};

INSTANTIATE_TEST_SUITE_P(Texts, BadInjection, testing::ValuesIn(bad));

} // namespace
} // namespace cd
