// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "settings/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace cd::logger {
namespace {

constexpr const char *variable = "CD_OF_THIS_TEST";

class Settings : public testing::Test {
protected:
    void TearDown() override { unsetenv(variable); }

    static void set(const char *value) { setenv(variable, value, 1); }

    // Returns the messages that are printed while `ask` reads a setting.
    template <typename Ask> static std::string said_by(const Ask &ask) {
        testing::internal::CaptureStderr();
        ask();
        return testing::internal::GetCapturedStderr();
    }
    static void expect_told(const std::string &said, const std::string &allowed) {
        EXPECT_NE(said.find(std::string(variable) + " is \"" + std::getenv(variable) + "\""),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find(allowed), std::string::npos) << said;
    }
};

TEST_F(Settings, WhatIsNotSetIsNothing) {
    const std::string said = said_by([] {
        EXPECT_EQ(choice_in(variable, {"one", "other"}), std::nullopt);
        EXPECT_EQ(seconds_in(variable, 2.5), 2.5);
        EXPECT_EQ(size_in(variable, 9), 9U);
    });
    EXPECT_EQ(said, "");
}

TEST_F(Settings, WhatIsSetCounts) {
    const std::string said = said_by([] {
        set("one");
        EXPECT_EQ(choice_in(variable, {"one", "other"}), 0U);
        set("other");
        EXPECT_EQ(choice_in(variable, {"one", "other"}), 1U);
        set("0.25");
        EXPECT_EQ(seconds_in(variable, 2.5), 0.25);
        set("0");
        EXPECT_EQ(seconds_in(variable, 2.5), 0);
        set("2K");
        EXPECT_EQ(size_in(variable, 9), 2048U);
    });
    EXPECT_EQ(said, "");
}

TEST_F(Settings, WhatIsNotUnderstoodIsToldAndCountsAsNothing) {
    for (const char *value : {"", "On", "ones"}) {
        set(value);
        expect_told(said_by([] {
                        EXPECT_EQ(choice_in(variable, {"one", "other"}), std::nullopt);
                    }),
                    "allowed: one, other");
    }
    for (const char *value : {"", "soon", "-1", "1s", "inf", "nan"}) {
        set(value);
        expect_told(said_by([] { EXPECT_EQ(seconds_in(variable, 2.5), 2.5); }), "seconds");
    }
    for (const char *value : {"", "much", "0", "-1", "1.5K"}) {
        set(value);
        expect_told(said_by([] { EXPECT_EQ(size_in(variable, 9), 9U); }), "K, M or G");
    }
}

} // namespace
} // namespace cd::logger
