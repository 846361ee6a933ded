// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What SCR reads in its configuration is read here alike, or refused with its reason.
#include "config/scr_config.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <map>

namespace cd {
namespace {

class ScrFiles : public testing::Test {
protected:
    class Environment : public ReplacedSystem {
    public:
        const char *environment(const char *name) override {
            const auto found = variables.find(name);
            return found != variables.end() ? found->second.c_str() : nullptr;
        }
        std::map<std::string, std::string> variables;
    } environment;

    static Levels read(const std::string &text) {
        Levels levels;
        EXPECT_TRUE(parse_levels(text, "levels.conf", levels)) << text << ": " << message();
        levels.levels.resize(std::max<size_t>(levels.levels.size(), 1));
        return levels;
    }

    static Level first(const std::string &text) { return read(text).levels.front(); }

    static void expect_refused(const std::string &text, const std::string &why) {
        Levels levels;
        EXPECT_EQ(parse_levels(text, "levels.conf", levels).code(), CD_ERROR_STORAGE_VALUE) << text;
        EXPECT_TRUE(levels.levels.empty() && levels.variables.empty());
        EXPECT_TRUE(std::string(message()).starts_with("levels.conf:" + why))
            << text << ": " << message();
    }
};

TEST_F(ScrFiles, KeysAreReadInAnyCase) {
    EXPECT_EQ(first("ckpt=0 interval=1 type=rs Set_Size=4 group=Node store=/Tmp\n"),
              (Level{0, 1, "NODE", "/Tmp", {Scheme::reed_solomon, 2}, 4}));
    const Levels levels = read("groups=Host1 switch=A\nCkpt=0 Group=switch\nscr_set_size=5\n"
                               "store=/tmp group=Switch enabled=1\n");
    EXPECT_EQ(levels.groups.at("Host1").at("SWITCH"), "A");
    EXPECT_EQ(levels.levels.front().group, "SWITCH");
    EXPECT_EQ(levels.levels.front().set_size, 5);
    expect_refused("CKPT=0 Set_Size=4 SET_SIZE=4", "1: SET_SIZE is given twice");
}

TEST_F(ScrFiles, BlanksMayStandAroundTheEqualsSign) {
    EXPECT_EQ(first("\tCKPT = 0  INTERVAL =1\tTYPE= SINGLE SET_SIZE\t=\t3 # = as usual\r\n"),
              (Level{0, 1, "NODE", "", {Scheme::single, 0}, 3}));
    for (const std::string line :
         {"CKPT 0", "CKPT", "CKPT =", "CKPT = # none", "= 0", "CKPT = = 0", "CKPT=0 TYPE XOR",
          "CKPT=0 STORE=/a=b", "CKPT=0 TYPE=", "CKPT=0 TYPE = \t"}) {
        expect_refused("\n" + line, "2: ");
    }
    expect_refused("CKPT=0 TYPE XOR", "1: \"TYPE\" is not KEY=VALUE");
    expect_refused("CKPT=0 TYPE= # XOR", "1: \"TYPE=\" has no value");
}

TEST_F(ScrFiles, VariablesOfTheEnvironmentStandForTheirValues) {
    environment.variables = {
        {"SCRATCH", "/scratch/job 1"}, {"n", "4"}, {"DISK", "d"}, {"DISK2", "e"}, {"_x", "XOR"}};
    const Levels levels = read("CKPT=0 STORE=$SCRATCH/ckpt SET_SIZE=$n TYPE=$_x\n"
                               "CKPT=1 INTERVAL=2 STORE=/${DISK}s/$DISK/${DISK2}$n\n");
    EXPECT_EQ(levels.levels.at(0),
              (Level{0, 1, "NODE", "/scratch/job 1/ckpt", {Scheme::xor_set, 0}, 4}));
    EXPECT_EQ(levels.levels.at(1).store, "/ds/d/e4");
    EXPECT_EQ(levels.variables, environment.variables);
    // The name ends before a digit, as SCR reads it.
    EXPECT_EQ(first("CKPT=0 STORE=/$DISK2\n").store, "/d2");
    EXPECT_EQ(first("CKPT=0\nSCR_CACHE_BASE=$SCRATCH\n").store, "/scratch/job 1");
    EXPECT_EQ(read("CKPT=0\nGROUPS=h RACK=$DISK\n").groups.at("h").at("RACK"), "d");
}

TEST_F(ScrFiles, WhatVariablesCannotStandForIsRefusedWithTheirNames) {
    environment.variables = {{"EMPTY", ""}, {"DISK1", "/d"}};
    expect_refused("\nCKPT=0 STORE=$SCRATCH/ckpt",
                   "2: STORE=$SCRATCH/ckpt: the environment variable SCRATCH is not set; set it "
                   "for all ranks, or write what it stands for");
    expect_refused("CKPT=0 STORE=${SCRATCH}/ckpt",
                   "1: STORE=${SCRATCH}/ckpt: the environment variable SCRATCH is not set; set it");
    expect_refused("CKPT=0 STORE=$DISK1",
                   "1: STORE=$DISK1: the environment variable DISK is not set; set it for all "
                   "ranks, or write what it stands for (a name with digits is written ${NAME1})");
    expect_refused("CKPT=0 STORE=$EMPTY", "1: STORE=$EMPTY has no value, since it is empty: EMPTY");
    for (const std::string value : {"$", "/a$/b", "${}", "${", "${A", "${A-b}", "$1", "$$"}) {
        expect_refused("CKPT=0 STORE=" + value,
                       "1: STORE=" + value + ": behind $ comes NAME or {NAME}");
    }
    for (const std::string value : {"\\", "/a\\b", "/\\n"}) {
        expect_refused("CKPT=0 STORE=" + value,
                       "1: STORE=" + value + ": a \\ is not supported; use");
    }
}

TEST_F(ScrFiles, WhatIsReadOverNeedsNoVariables) {
    const Levels levels = read("SCR_CNTL_BASE=/dev/shm/$SLURM_JOBID\nSCR_LOG_DB_PASS=a\\b$\n"
                               "CKPT=0 # $NOT\n");
    EXPECT_TRUE(levels.variables.empty());
}

TEST_F(ScrFiles, FailuresOfASetAreCountedAsScrDoes) {
    EXPECT_EQ(first("CKPT=0 TYPE=RS SET_SIZE=8 SET_FAILURES=3\n").redundancy.parameter, 3);
    EXPECT_EQ(first("CKPT=0 TYPE=RS\nSCR_SET_FAILURES=4\n").redundancy.parameter, 4);
    EXPECT_EQ(first("CKPT=0 TYPE=RS CKSUM=1\nSCR_SET_FAILURES=4\n").redundancy.parameter, 1);
    EXPECT_EQ(first("CKPT=0 TYPE=XOR\nSCR_SET_FAILURES=4\n").redundancy.parameter, 0);
    expect_refused("CKPT=0 TYPE=RS SET_FAILURES=3 CKSUM=3",
                   "1: CKSUM and SET_FAILURES are two names of one; give one");
    expect_refused("CKPT=0 TYPE=XOR SET_FAILURES=2", "1: SET_FAILURES goes with TYPE=RS only");
    expect_refused("SCR_SET_FAILURES=0\nCKPT=0 TYPE=RS", "1: SCR_SET_FAILURES=0 is not a number");
}

TEST_F(ScrFiles, SettingsThatWouldChangeWhatIsProtectedAreRefused) {
    EXPECT_EQ(first("SCR_CACHE_BYPASS=0 SCR_HOP_DISTANCE=1\nCKPT=0 BYPASS=0 OUTPUT=1\n").index, 0);
    EXPECT_EQ(first("SCR_FLUSH=10\nSCR_COPY_TYPE=file\nCKPT=0\n").index, 0);
    expect_refused("CKPT=0 BYPASS=1", "1: BYPASS=1 is not supported; write 0, or leave it out");
    expect_refused("CKPT=0\nSCR_CACHE_BYPASS=1", "2: SCR_CACHE_BYPASS=1 is not supported; write 0");
    expect_refused("SCR_COPY_TYPE=XOR\nCKPT=0",
                   "1: SCR_COPY_TYPE=XOR is not supported; write FILE");
    expect_refused("SCR_HOP_DISTANCE=2\nCKPT=0", "1: SCR_HOP_DISTANCE=2 is not supported; write 1");
}

} // namespace
} // namespace cd
