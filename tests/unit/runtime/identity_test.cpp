// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/identity.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace cd {
namespace {

TEST(Identity, NamesRankRootDepthAndSibling) {
    EXPECT_EQ(make_identity(12, "solver", 3, 4), "12/solver/3/4");
}

TEST(Identity, ARootNeedsAName) {
    EXPECT_EQ(check_root_name(nullptr).code(), CD_ERROR_NAME_MISSING);
    EXPECT_EQ(check_root_name("").code(), CD_ERROR_NAME_MISSING);
}

TEST(Identity, NamesHaveAtMost200Bytes) {
    EXPECT_TRUE(check_root_name(std::string(200, 'x').c_str()));
    EXPECT_EQ(check_root_name(std::string(201, 'x').c_str()).code(), CD_ERROR_NAME_INVALID);
}

TEST(Identity, NamesFitIntoPathsAndMessages) {
    EXPECT_TRUE(check_root_name("a b.c"));
    EXPECT_EQ(check_root_name(".a").code(), CD_ERROR_NAME_INVALID);
    EXPECT_EQ(check_root_name("..").code(), CD_ERROR_NAME_INVALID);
    for (int character = 1; character < 256; ++character) {
        const std::string name = std::string("name") + static_cast<char>(character) + "x";
        const bool refused = character < 0x20 || character == 0x7f || character == '/';
        EXPECT_EQ(check_root_name(name.c_str()).code(),
                  refused ? CD_ERROR_NAME_INVALID : CD_ERROR_NONE)
            << character;
    }
}

class Environment : public ReplacedSystem {
public:
    const char *environment(const char *name) override {
        const auto found = variables.find(name);
        return found != variables.end() ? found->second : nullptr;
    }

    void warn(const char *line) override { warnings.emplace_back(line); }

    std::map<std::string, const char *> variables;
    std::vector<std::string> warnings;
};

TEST(Identity, TheRankComesFromTheLaunchersEnvironment) {
    Environment environment;
    EXPECT_EQ(current_rank(), 0);
    environment.variables["SLURM_PROCID"] = "4";
    EXPECT_EQ(current_rank(), 4);
    environment.variables["OMPI_COMM_WORLD_RANK"] = "3";
    EXPECT_EQ(current_rank(), 3);
    environment.variables["PMI_RANK"] = "2";
    EXPECT_EQ(current_rank(), 2);
    environment.variables["PMIX_RANK"] = "1";
    EXPECT_EQ(current_rank(), 1);
}

TEST(Identity, WhatIsNoRankIsPassedOverAndToldOnce) {
    Environment environment;
    environment.variables["SLURM_PROCID"] = "7";
    for (const char *text : {"", "99999999999999999999", "-1", "3x", " 3", "x", "99999999999"}) {
        environment.variables["PMI_RANK"] = text;
        EXPECT_EQ(current_rank(), 7) << text;
        EXPECT_EQ(environment.warnings.size(), *text == '\0' ? 0U : 1U) << text;
    }
    environment.variables.erase("SLURM_PROCID");
    EXPECT_EQ(current_rank(), 0);
    ASSERT_EQ(environment.warnings.size(), 1U);
    EXPECT_EQ(
        environment.warnings.front(),
        "PMI_RANK is \"99999999999999999999\", which is no rank (an integer from 0); rank 7 is "
        "used: set or unset it");
}

TEST(Identity, MpiKnowsTheRankBest) {
    Environment environment;
    environment.variables["PMIX_RANK"] = "1";
    set_rank(5);
    EXPECT_EQ(current_rank(), 5);
    set_rank(-1); // unknown again
    EXPECT_EQ(current_rank(), 1);
}

} // namespace
} // namespace cd
