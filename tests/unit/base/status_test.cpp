// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/status.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cd {
namespace {

TEST(Status, StartsWithoutError) {
    EXPECT_TRUE(Status());
    EXPECT_TRUE(Status::ok().is_ok());
    EXPECT_EQ(Status::ok().code(), CD_ERROR_NONE);
}

TEST(Status, FailCarriesCodeAndMessage) {
    const Status status = fail(CD_ERROR_COUNT, "the count is %d; give %s", -1, "0 or more");
    EXPECT_FALSE(status);
    EXPECT_FALSE(status.is_ok());
    EXPECT_EQ(status.code(), CD_ERROR_COUNT);
    EXPECT_STREQ(message(), "the count is -1; give 0 or more");
}

TEST(Status, MessageIsReplacedAndCleared) {
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "a long first message"));
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "second"));
    EXPECT_STREQ(message(), "second");
    clear_message();
    EXPECT_STREQ(message(), "");
}

TEST(Status, NewMessageMayQuoteTheOneBefore) {
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "inner"));
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "outer: %s, again %s", message(), message()));
    EXPECT_STREQ(message(), "outer: inner, again inner");
}

TEST(Status, OfALongMessageTheMiddleIsLeftOut) {
    const auto told = [](size_t length) {
        const std::string text(length - 4, 'x');
        EXPECT_FALSE(fail(CD_ERROR_COUNT, "ab%scd", text.c_str()));
        return std::string(message());
    };
    EXPECT_EQ(told(1023), "ab" + std::string(1019, 'x') + "cd");
    for (const size_t length : {1024, 1025, 2000, 10239}) {
        EXPECT_EQ(told(length),
                  "ab" + std::string(509, 'x') + " ... " + std::string(505, 'x') + "cd");
    }
}

TEST(Status, LongMessageIsCutBetweenCharacters) {
    for (const std::string &padding : std::vector<std::string>{"", "a", "ab", "abc"}) {
        std::string text = padding;
        for (int i = 0; i < 1000; ++i) {
            text += "\xe2\x80\x9b";
        }
        EXPECT_FALSE(fail(CD_ERROR_COUNT, "%s%s", text.c_str(), padding.c_str()));
        const std::string cut = message();
        const size_t at = cut.find(" ... ");
        ASSERT_NE(at, std::string::npos);
        EXPECT_EQ((at - padding.size()) % 3, 0U);
        EXPECT_EQ((cut.size() - padding.size() - at) % 3, std::string(" ... ").size() % 3);
        EXPECT_GT(cut.size(), 1010U);
    }
}

TEST(Status, ControlCharactersAreWrittenOut) {
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "\"%s\"", "a\nb\x1b[2J\x7f \t\xc3\xa9"));
    EXPECT_STREQ(message(), "\"a\\x0ab\\x1b[2J\\x7f \\x09\xc3\xa9\"");
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "again %s", message()));
    EXPECT_STREQ(message(), "again \"a\\x0ab\\x1b[2J\\x7f \\x09\xc3\xa9\"");
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "%s", "\xc2\x9b[2J \x9b \xc3\x9b \xe2\x82\x80 \xc2"));
    EXPECT_STREQ(message(), "\\xc2\\x9b[2J \\x9b \xc3\x9b \xe2\x82\x80 \xc2") << "C1 too";
    const std::string text(1000, '\n');
    EXPECT_FALSE(fail(CD_ERROR_COUNT, "%s", text.c_str()));
    EXPECT_EQ(std::string(message()).size(), (127 + 126) * 4U + 5) << "and none of them in part";
}

} // namespace
} // namespace cd
