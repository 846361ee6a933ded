// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/scr_config.h"

#include <gtest/gtest.h>

namespace cd {
namespace {

Status parse(const std::string &text, Levels &levels) {
    return parse_levels(text, "levels.conf", levels);
}

std::string refusal(const std::string &text) {
    Levels levels;
    EXPECT_EQ(parse(text, levels).code(), CD_ERROR_STORAGE_VALUE) << text;
    EXPECT_TRUE(levels.levels.empty());
    return message();
}

TEST(Levels, TheExampleOfScrIsRead) {
    Levels levels;
    ASSERT_TRUE(parse("# instruct SCR to use the CKPT descriptors from the config file\n"
                      "SCR_COPY_TYPE=FILE\n"
                      "\n"
                      "STORES=/tmp GROUP=NODE COUNT=1\n"
                      "GROUPS=host1 POWER=psu1 SWITCH=0\n"
                      "GROUPS=host2 POWER=psu1 SWITCH=1\n"
                      "CKPT=0 INTERVAL=1 GROUP=NODE   STORE=/tmp TYPE=XOR     SET_SIZE=16\n"
                      "CKPT=1 INTERVAL=4 GROUP=NODE   STORE=/ssd TYPE=XOR     SET_SIZE=8 # often\n"
                      "CKPT=2 INTERVAL=8 GROUP=SWITCH STORE=/ssd TYPE=PARTNER",
                      levels)
                    .is_ok())
        << message();
    EXPECT_EQ(levels.levels,
              (std::vector<Level>{{0, 1, "NODE", "/tmp", {Scheme::xor_set, 0}, 16},
                                  {1, 4, "NODE", "/ssd", {Scheme::xor_set, 0}, 8},
                                  {2, 8, "SWITCH", "/ssd", {Scheme::partner, 1}, 8}}));
    EXPECT_EQ(levels.groups["host1"]["SWITCH"], "0");
    EXPECT_EQ(levels.groups["host2"]["POWER"], "psu1");
}

TEST(Levels, EveryKeyOfADescriptorIsRead) {
    Levels levels;
    ASSERT_TRUE(parse("CKPT=5 ENABLED=1 INDEX=3 INTERVAL=1 GROUP=WORLD STORE=/a TYPE=rs SET_SIZE=4 "
                      "CKSUM=3\n"
                      "CKPT=6 INTERVAL=2 TYPE=partner REPLICAS=2\r\n",
                      levels)
                    .is_ok())
        << message();
    EXPECT_EQ(levels.levels,
              (std::vector<Level>{{3, 1, "WORLD", "/a", {Scheme::reed_solomon, 3}, 4},
                                  {6, 2, "NODE", "", {Scheme::partner, 2}, 8}}));
}

TEST(Levels, WhatIsDisabledIsNotThere) {
    Levels levels;
    ASSERT_TRUE(parse("CKPT=0 TYPE=SINGLE\nCKPT=1 ENABLED=0 INTERVAL=2\n", levels).is_ok());
    EXPECT_EQ(levels.levels, (std::vector<Level>{{0, 1, "NODE", "", {Scheme::single, 0}, 8}}));
    EXPECT_NE(refusal("CKPT=0 ENABLED=0\n").find("INTERVAL=1"), std::string::npos);
}

TEST(Levels, AnIntervalOfOneHasToBeThere) {
    EXPECT_NE(refusal("CKPT=0 INTERVAL=2\n").find("has INTERVAL=1"), std::string::npos);
    EXPECT_NE(refusal("").find("has INTERVAL=1"), std::string::npos);
}

TEST(Levels, WhatCannotBeIsRefusedWithItsLine) {
    const std::string good = "CKPT=0\n";
    for (const std::string line : {"CKPT=0 INTERVAL=2",
                                   "CKPT=1 INDEX=0 INTERVAL=2",
                                   "CKPT=1 INTERVAL=1",
                                   "CKPT=1 INTERVAL=0",
                                   "CKPT=1 INTERVAL=2 INTERVAL=2",
                                   "CKPT=x",
                                   "CKPT=1 TYPE=RAID",
                                   "CKPT=1 COLOR=red",
                                   "CKPT=1 INTERVAL=2 CKSUM=1",
                                   "CKPT=1 INTERVAL=2 REPLICAS=1",
                                   "CKPT=1 SET_SIZE=1",
                                   "CKPT=1 INTERVAL=-2",
                                   "CKPT",
                                   "=1",
                                   "CKPT=",
                                   "NAME=1",
                                   "GROUPS=a B=1 B=2",
                                   "GROUPS=a NODE=1",
                                   "GROUPS=a WORLD=1",
                                   "CKPT=1 ENABLED=2",
                                   "CKPT=1 TYPE=RS INTERVAL=2 CKSUM=256",
                                   "SCR_SET_SIZE=1"}) {
        EXPECT_TRUE(refusal(good + line).starts_with("levels.conf:2: "))
            << line << ": " << message();
    }
}

TEST(Levels, SettingsOfScrAreDefaultsWhereverTheyStand) {
    Levels levels;
    ASSERT_TRUE(parse("CKPT=0\nCKPT=1 INTERVAL=2 GROUP=NODE STORE=/ssd SET_SIZE=4\n"
                      "SCR_GROUP=WORLD\nSCR_CACHE_BASE=/dev/shm SCR_SET_SIZE=3\n"
                      "SCR_DEBUG=1 SCR_FLUSH=10\n",
                      levels))
        << message();
    EXPECT_EQ(levels.levels,
              (std::vector<Level>{{0, 1, "WORLD", "/dev/shm", {Scheme::xor_set, 0}, 3},
                                  {1, 2, "NODE", "/ssd", {Scheme::xor_set, 0}, 4}}));
}

TEST(Levels, LinesOfStoresAreIgnored) {
    Levels levels;
    EXPECT_TRUE(
        parse("STORES=/tmp GROUP=NODE COUNT=1 ENABLED=0\nstore=/a SPEED=$NOT\nCKPT=0\n", levels))
        << message();
}

} // namespace
} // namespace cd
