// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/failure_groups.h"

#include <gtest/gtest.h>

namespace cd {
namespace {

std::string group_by(std::string_view host, std::string_view text) {
    std::string group = "as it was";
    EXPECT_TRUE(find_group(text, "racks.txt", host, group)) << message();
    return group;
}

std::string refusal_of_groups(std::string_view text) {
    std::string group = "as it was";
    EXPECT_EQ(find_group(text, "racks.txt", "node1", group).code(), CD_ERROR_STORAGE_VALUE) << text;
    EXPECT_EQ(group, "as it was");
    return message();
}

TEST(GroupsFile, TheLineOfAHostHasItsGroup) {
    constexpr std::string_view text = "# by cable\n"
                                      "node1 rack1\n"
                                      "\n"
                                      "\tnode2   rack1 # moved\r\n"
                                      "node10 switch,3";
    EXPECT_EQ(group_by("node1", text), "rack1");
    EXPECT_EQ(group_by("node2", text), "rack1");
    EXPECT_EQ(group_by("node10", text), "switch,3");
}

TEST(GroupsFile, WhatIsNoLineIsRefusedWithItsNumber) {
    for (const std::string_view line : {"node2", "node2 rack 1", "node2 # rack1", "node1 rack2"}) {
        EXPECT_TRUE(
            refusal_of_groups("node1 rack1\n" + std::string(line)).starts_with("racks.txt:2: "))
            << line << ": " << message();
    }
    EXPECT_NE(refusal_of_groups(std::string(5000, 'x')).find("is not HOST GROUP"),
              std::string::npos);
}

TEST(GroupsFile, AHostThatIsNotThereIsNamed) {
    for (const std::string_view text : {"", "node2 rack1\n", "node11 rack1\nnode rack2"}) {
        EXPECT_EQ(refusal_of_groups(text),
                  "racks.txt: no line \"node1 GROUP\" for this node; add one");
    }
}

} // namespace
} // namespace cd
