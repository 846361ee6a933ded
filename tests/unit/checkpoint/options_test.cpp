// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/options.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace cd::checkpoint {
namespace {

class SetEnvironment : public ReplacedSystem {
public:
    const char *environment(const char *name) override {
        const auto found = variables.find(name);
        return found != variables.end() ? found->second.c_str() : nullptr;
    }

    std::map<std::string, std::string> variables;
};

class ScratchText {
public:
    explicit ScratchText(const std::string &text) {
        std::string path = testing::TempDir() + "cd-requests-XXXXXX";
        ::close(::mkstemp(path.data()));
        path_ = path;
        std::ofstream(path_) << text;
    }
    ScratchText(const ScratchText &) = delete;
    ~ScratchText() { std::filesystem::remove(path_); }
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

Status request_of(const std::string &storage_info, Request &request) {
    StorageInfo info;
    EXPECT_TRUE(parse_storage_info("store=file,redundancy=xor," + storage_info, "test", info))
        << message();
    return read_request(info, "/stores", "node1", request);
}

std::string group_of(const std::string &storage_info) {
    Request request;
    EXPECT_TRUE(request_of(storage_info, request)) << message();
    return request.levels.front().group;
}

std::string refusal(const std::string &storage_info) {
    Request request;
    EXPECT_FALSE(request_of(storage_info, request));
    return message();
}

TEST(Requests, WhatFailsTogetherIsTheNodeUnlessItIsTold) {
    SetEnvironment environment;
    const ScratchText racks("node1 rack1\nnode2 rack2\n");
    EXPECT_EQ(group_of("set_size=4"), "node1");
    environment.variables["CD_GROUPS_FILE"] = racks.path();
    EXPECT_EQ(group_of("set_size=4"), "rack1");
    environment.variables["CD_GROUP"] = "switch, first floor";
    EXPECT_EQ(group_of("set_size=4"), "switch, first floor");
    EXPECT_EQ(group_of("group=psu"), "psu");
}

TEST(Requests, LevelsOfNodesTakeWhatIsToldAndOthersDoNot) {
    SetEnvironment environment;
    environment.variables["CD_GROUP"] = "rack1";
    const ScratchText levels("CKPT=0 INTERVAL=1\nCKPT=1 INTERVAL=2 GROUP=SWITCH\n"
                             "CKPT=2 INTERVAL=4 GROUP=WORLD\nGROUPS=node1 SWITCH=7\n");
    Request request;
    ASSERT_TRUE(request_of("config=" + levels.path(), request)) << message();
    EXPECT_EQ(request.levels[0].group, "rack1");
    EXPECT_EQ(request.levels[1].group, "SWITCH=7");
    EXPECT_EQ(request.levels[2].group, "WORLD");
}

TEST(Requests, AGroupOfALevelThatNoLineHasForTheNodeIsRefused) {
    SetEnvironment environment;
    for (const char *text :
         {"CKPT=0 GROUP=RACK\n", "CKPT=0 GROUP=RACK\nGROUPS=node2 RACK=1\n",
          "CKPT=0 GROUP=RACK\nGROUPS=node1 SWITCH=1\n", "SCR_GROUP=RACK\nCKPT=0\n"}) {
        const ScratchText levels(text);
        EXPECT_NE(refusal("config=" + levels.path()).find("no line GROUPS=node1 RACK="),
                  std::string::npos)
            << message();
    }
}

TEST(Requests, LevelsWithOneStoreShareIt) {
    SetEnvironment environment;
    const ScratchText levels("CKPT=0 STORE=/ssd\nCKPT=1 INTERVAL=2 STORE=/ssd\n"
                             "CKPT=2 INTERVAL=4 STORE=/ssd\nCKPT=3 INTERVAL=8 STORE=/hdd\n");
    Request request;
    ASSERT_TRUE(request_of("config=" + levels.path(), request)) << message();
    EXPECT_EQ(request.stores, (std::vector<std::string>{"/stores", "/ssd", "/hdd"}));
}

TEST(Requests, WhatIsToldBadlyIsNotTakenForTheNode) {
    SetEnvironment environment;
    environment.variables["CD_GROUP"] = "";
    EXPECT_NE(refusal("set_size=4").find("CD_GROUP is empty"), std::string::npos) << message();
    environment.variables.clear();
    environment.variables["CD_GROUPS_FILE"] = "/not/there";
    EXPECT_NE(refusal("set_size=4").find("/not/there"), std::string::npos) << message();
    const ScratchText racks("node2 rack2\n");
    environment.variables["CD_GROUPS_FILE"] = racks.path();
    EXPECT_NE(refusal("set_size=4").find("\"node1 GROUP\""), std::string::npos) << message();
}

// Where some ranks have the file and others do not, racks would be compared with nodes.
TEST(Requests, AFileOfGroupsAndTheModeAreSettingsThatAllRanksHaveAlike) {
    SetEnvironment environment;
    const ScratchText racks("node1 rack1\n");
    const ScratchText others("node1 rack1\nnode2 rack1\n");
    std::vector<std::string> settings;
    for (const std::string &path : {std::string(), racks.path(), others.path()}) {
        if (!path.empty()) {
            environment.variables["CD_GROUPS_FILE"] = path;
        }
        Request request;
        ASSERT_TRUE(request_of("set_size=4", request)) << message();
        settings.push_back(request.settings);
    }
    EXPECT_EQ(settings[0], "");
    Request async;
    ASSERT_TRUE(request_of("redundancy_mode=async", async)) << message();
    EXPECT_TRUE(async.settings.starts_with("redundancy_mode=async, "));
    EXPECT_TRUE(settings[1].starts_with("CD_GROUPS_FILE=" + racks.path() + " with checksum 0x"));
    EXPECT_NE(settings[1].substr(settings[1].find(" with")),
              settings[2].substr(settings[2].find(" with")));
}

// Directories are written down for programs that do not have these variables.
TEST(Requests, VariablesOfAConfigurationAreSettingsThatAllRanksHaveAlike) {
    SetEnvironment environment;
    const ScratchText levels("CKPT=0 STORE=$SCRATCH/ckpt\n");
    environment.variables["SCRATCH"] = "/a";
    Request request;
    ASSERT_TRUE(request_of("config=" + levels.path(), request)) << message();
    EXPECT_EQ(request.stores, (std::vector<std::string>{"/stores", "/a/ckpt"}));
    EXPECT_TRUE(request.settings.ends_with(", SCRATCH=/a, ")) << request.settings;
}

} // namespace
} // namespace cd::checkpoint
