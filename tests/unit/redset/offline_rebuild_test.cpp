// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline_rebuild.h"

#include "scratch_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

Search search_below(const std::vector<std::string> &directories) {
    Search search;
    EXPECT_TRUE(find_sets(directories, names_a_time, search)) << message();
    return search;
}

void rebuild_all(const std::vector<std::string> &directories) {
    for (FoundSet &found : search_below(directories).sets) {
        Survey survey;
        ASSERT_TRUE(rebuild_found(found, {.sync = false}, false, survey)) << message();
    }
}

// Of each case what upstream wrote, with all sets in one directory: as many members of each set are
// lost as it covers.
TEST(Offline, FindsUpstreamsSetsAndBringsThemBack) {
    for (const VectorCase &vector : vector_cases()) {
        SCOPED_TRACE(vector.folder);
        std::vector<std::unique_ptr<ScratchSet>> sets;
        for (const VectorCase::Set &members : vector.sets) {
            sets.push_back(scratch_set(vector, members));
        }
        const fs::path folder = sets[0]->folder();
        for (const fs::path &path : files_below(vector.folder / "red")) {
            copy_into(path, folder / "red" / path.filename());
        }
        for (size_t i = 1; i < sets.size(); ++i) {
            for (const auto &[name, state] : sets[i]->state()) {
                fs::rename(sets[i]->folder() / name, folder / name);
            }
        }
        const FolderState before = sets[0]->state();
        for (const auto &set : sets) {
            for (int member = 0; member < set->set().coding.checks; ++member) {
                fs::remove(folder / "red" /
                           fs::path(set->place().scheme_file(set->set(), member)).filename());
                for (const std::string &name : set->names(member)) {
                    fs::remove(folder / name);
                }
            }
        }
        const Search search = search_below({folder});
        EXPECT_EQ(search.sets.size(), vector.sets.size());
        EXPECT_TRUE(search.unusable.empty());
        rebuild_all({folder});
        EXPECT_TRUE(contents(sets[0]->state()) == contents(before));
    }
}

// Which reasons there are to rebuild anything.
std::string losses(const Survey &survey) {
    std::string all;
    for (const MemberState &member : survey.members) {
        all += member.data_lost + member.payload_lost;
    }
    return all;
}

TEST(Offline, OfCopiesAWholeOneCountsWhereverItIs) {
    for (const bool scheme_file : {false, true}) {
        for (const std::string damaged : {"a", "s"}) {
            const ScratchNodes nodes(single_set({Scheme::xor_set, 4, 1}), {{90}, {80}, {70}, {60}});
            nodes.put("a", {0, 1});
            nodes.put("b", {2, 3});
            nodes.put("s", {0, 3});
            const fs::path path =
                scheme_file ? nodes.scheme_file(damaged, 0) : nodes.image(damaged, 0);
            SCOPED_TRACE(path);
            ScratchNodes::damage(path);
            fs::remove(nodes.image(damaged == "a" ? "b" : "s", 3));
            const FolderState before = nodes.state();
            for (const bool look_only : {true, false}) {
                Search search = search_below({nodes.folder()});
                ASSERT_EQ(search.sets.size(), 1U);
                Survey survey;
                ASSERT_TRUE(rebuild_found(search.sets[0], {}, look_only, survey)) << message();
                EXPECT_EQ(losses(survey), "");
                EXPECT_TRUE(nodes.state() == before);
            }
        }
    }
}

TEST(Offline, OfDamagedCopiesOneIsRebuilt) {
    const ScratchNodes nodes(single_set({Scheme::xor_set, 4, 1}), {{90}, {80}, {70}, {60}});
    nodes.put("a", {0, 1});
    nodes.put("b", {2, 3});
    nodes.put("s", {0});
    const FolderState whole = nodes.state();
    ScratchNodes::damage(nodes.image("a", 0));
    ScratchNodes::damage(nodes.image("s", 0));
    ScratchNodes::damage(nodes.scheme_file("a", 0));
    const FolderState before = nodes.state();
    rebuild_all({nodes.folder()});
    const FolderState after = nodes.state();
    for (const auto &[name, file] : contents(whole)) {
        const bool is_of_a = name.starts_with("a/");
        EXPECT_TRUE(contents(after).at(name).bytes == (is_of_a ? before : whole).at(name).bytes)
            << name;
    }
}

// Nothing is known of files then, so that none are lost.
TEST(Offline, OfCopiesWhoseChecksumsAreOfAnotherTimeNoneIsWhole) {
    const ScratchNodes nodes(single_set({Scheme::xor_set, 3, 1}), {{90}, {80}, {70}});
    const ScratchNodes others(single_set({Scheme::xor_set, 3, 1}), {{91}, {81}, {71}});
    for (const char *node : {"a", "b"}) {
        nodes.put(node, {0, 1, 2});
        others.put(node, {0, 1, 2});
    }
    for (int member = 0; member < 3; ++member) {
        fs::copy_file(others.checksums("a", member), nodes.checksums("a", member),
                      fs::copy_options::overwrite_existing);
    }
    const FolderState before = nodes.state();
    Search search = search_below({nodes.folder()});
    ASSERT_EQ(search.sets.size(), 1U);
    Survey survey;
    ASSERT_TRUE(rebuild_found(search.sets[0], {}, false, survey)) << message();
    EXPECT_EQ(losses(survey), "");
    EXPECT_TRUE(nodes.state() == before);
    fs::remove_all(nodes.folder() / "b");
    search = search_below({nodes.folder()});
    EXPECT_FALSE(rebuild_found(search.sets.at(0), {}, false, survey));
    EXPECT_STREQ(message(), "set 1 of 1 (XOR, 3 members): no remaining file records which files "
                            "ranks 0, 1, 2 had; nothing was changed");
}

// As on nodes, with the files of each in a directory of its own.
TEST(Offline, AMemberWhoseSchemeFileIsLostHasItsFilesWhereTheyAre) {
    for (const bool damaged : {false, true}) {
        SCOPED_TRACE(damaged);
        const ScratchNodes nodes(single_set({Scheme::xor_set, 4, 1}), {{90}, {80}, {70}, {60}});
        nodes.put_each();
        const FolderState whole = nodes.state();
        for (const int member : {0, 2}) {
            const fs::path path = nodes.scheme_file("n" + std::to_string(member), member);
            damaged ? fs::resize_file(path, 30) : static_cast<void>(fs::remove(path));
        }
        const FolderState left = nodes.state();
        for (const bool look_only : {true, false}) {
            Search search = search_below({nodes.folder()});
            ASSERT_EQ(search.sets.size(), 1U);
            EXPECT_EQ(search.unusable.size(), damaged ? 2U : 0U);
            Survey survey;
            ASSERT_TRUE(rebuild_found(search.sets[0], {}, look_only, survey)) << message();
            for (const MemberState &member : survey.members) {
                EXPECT_EQ(member.data_lost, "");
            }
            EXPECT_TRUE(contents(nodes.state()) == contents(look_only ? left : whole));
        }
    }
}

TEST(Offline, ACopyWhoseSchemeFileIsDamagedCountsWhereItsFilesAreWhole) {
    const ScratchNodes nodes(single_set({Scheme::xor_set, 4, 1}), {{90}, {80}, {70}, {60}});
    nodes.put_each();
    nodes.put("s", {0});
    const FolderState whole = nodes.state();
    ScratchNodes::damage(nodes.image("n0", 0));
    const FolderState before = nodes.state();
    fs::resize_file(nodes.scheme_file("s", 0), 30);
    fs::remove(nodes.scheme_file("n2", 2)); // so that rank 0's data cannot come back
    rebuild_all({nodes.folder()});
    const FolderState after = nodes.state();
    for (const auto &[name, file] : whole) {
        EXPECT_TRUE(after.at(name).bytes ==
                    (name.starts_with("n0/") ? before : whole).at(name).bytes)
            << name;
    }
}

void put_in_place(const fs::path &from, const fs::path &to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

// Of the same ranks, as from an earlier point in time.
TEST(Offline, ASchemeFileOfAnotherTimeInADirectoryThatNamesATimeIsALostOne) {
    for (const Coding &coding :
         {Coding{Scheme::xor_set, 4, 1}, Coding{Scheme::xor_set, 2, 1},
          Coding{Scheme::reed_solomon, 4, 2}, Coding{Scheme::partner, 4, 1}}) {
        for (int member = 0; member < coding.members; ++member) {
            SCOPED_TRACE(std::to_string(coding.members) + ", " + std::to_string(member));
            const std::vector<std::vector<uint64_t>> sizes(index(coding.members), {90});
            const std::vector<std::vector<uint64_t>> other_sizes(index(coding.members), {95});
            const ScratchNodes nodes(single_set(coding), sizes);
            const ScratchNodes others(single_set(coding), other_sizes);
            const std::string node = "n" + std::to_string(member);
            nodes.put_each();
            others.put_each();
            const FolderState whole = nodes.state();
            put_in_place(others.scheme_file(node, member), nodes.scheme_file(node, member));
            Search search = search_below({nodes.folder()});
            ASSERT_EQ(search.sets.size(), 1U);
            Survey survey;
            ASSERT_TRUE(rebuild_found(search.sets[0], {}, false, survey)) << message();
            for (size_t i = 0; i < survey.members.size(); ++i) {
                EXPECT_EQ(survey.members[i].data_lost, "");
                EXPECT_EQ(survey.members[i].payload_lost.empty(), std::cmp_not_equal(i, member));
            }
            EXPECT_TRUE(contents(nodes.state()) == contents(whole));
        }
    }
}

// Ranks were in other sets before.
TEST(Offline, SetsOfOneCheckpointThatContradictEachOtherAreAnErrorThatNamesBoth) {
    const ScratchNodes nodes(single_set({Scheme::xor_set, 4, 1}), {{90}, {80}, {70}, {60}});
    const ScratchNodes others(single_set({Scheme::xor_set, 2, 1}), {{90}, {80}});
    nodes.put_each();
    others.put_each();
    const fs::path stray = others.scheme_file("n1", 1);
    put_in_place(stray, nodes.scheme_file("n1", 1).parent_path() / stray.filename());
    const FolderState left = nodes.state();
    const Search search = search_below({nodes.folder()});
    ASSERT_EQ(search.sets.size(), 2U);
    for (const FoundSet &found : search.sets) {
        for (const bool dry_run : {true, false}) {
            Survey survey;
            EXPECT_EQ(rebuild_found(found, {}, dry_run, survey).code(), CD_ERROR_ARGUMENT);
            for (const FoundSet &each : search.sets) {
                EXPECT_NE(std::string(message()).find(each.scheme_files.front()), std::string::npos)
                    << message();
            }
        }
    }
    EXPECT_TRUE(nodes.state() == left);
}

// Where there are no checksums, too, nobody could tell them from what is of another time.
TEST(Offline, OnlyDirectoriesThatNameATimeHaveCopies) {
    const ScratchNodes nodes(single_set({Scheme::xor_set, 3, 1}), {{90}, {80}, {70}});
    nodes.put("a", {0, 1, 2});
    nodes.put("b", {0, 1, 2});
    EXPECT_EQ(search_below({nodes.folder()}).sets.size(), 1U);
    fs::rename(nodes.folder() / "b" / "time-1", nodes.folder() / "b" / "time-2");
    EXPECT_EQ(search_below({nodes.folder()}).sets.size(), 2U);
    for (const auto &[node, time] : {std::pair("a", "time-1"), std::pair("b", "time-2")}) {
        fs::rename(nodes.folder() / node / time, nodes.folder() / node / "set");
    }
    EXPECT_EQ(search_below({nodes.folder()}).sets.size(), 2U);
}

// As where a link of the same set may lead elsewhere, or the directory is not there yet.
TEST(Offline, WhatIsInBoundsIsKnownWhereverLinksLead) {
    const ScratchSet scratch(single_set({Scheme::single, 1, 0}), {{}});
    const fs::path folder = scratch.folder();
    const std::string in = folder / "in";
    fs::create_directory_symlink("/tmp", folder / "out");
    fs::create_symlink("round", folder / "round");
    EXPECT_TRUE(is_in_bounds(in, {folder}));
    EXPECT_TRUE(is_in_bounds(in + "/../new/below", {folder}));
    EXPECT_TRUE(is_in_bounds("/tmp", {"/"}));
    EXPECT_TRUE(is_in_bounds("/tmp", {}));
    EXPECT_FALSE(is_in_bounds(in + "/../..", {folder}));
    EXPECT_FALSE(is_in_bounds(folder / "out", {folder}));
    EXPECT_FALSE(is_in_bounds(folder / "round", {folder}));
    EXPECT_FALSE(is_in_bounds(folder, {in}));
}

TEST(Offline, WhatCannotBeReadIsNamed) {
    ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{1000}, {500}, {10}});
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState before = scratch.state();
    write_file(scratch.place().scheme_file(scratch.set(), 2), std::vector<std::byte>(5));
    fs::create_symlink(scratch.folder(), scratch.folder() / "around");
    const Search search = search_below({scratch.folder()});
    ASSERT_EQ(search.unusable.size(), 1u);
    EXPECT_NE(search.unusable[0].find("mem_3_of_3"), std::string::npos);
    fs::remove(scratch.folder() / "around");
    rebuild_all({scratch.folder()});
    EXPECT_TRUE(contents(scratch.state()) == contents(before));
    Search ignored;
    EXPECT_FALSE(find_sets(std::vector<std::string>{"/nowhere/at/all"}, names_a_time, ignored));
}

// Wherever the directories that are given overlap, in whichever order and spelling.
TEST(Offline, FindsASetOnceHoweverOftenItsDirectoryIsGiven) {
    ScratchSet scratch(single_set({Scheme::xor_set, 3, 1}), {{1000}, {500}, {10}});
    ASSERT_TRUE(scratch.apply()) << message();
    const FolderState before = scratch.state();
    const std::string upper = scratch.folder();
    const std::string lower = upper + "/red";
    for (const auto &directories :
         std::vector<std::vector<std::string>>{{upper, upper},
                                               {upper, lower},
                                               {lower, upper},
                                               {lower, upper + "/./", lower + "/."}}) {
        scratch.erase(1);
        const Search search = search_below(directories);
        ASSERT_EQ(search.sets.size(), 1u);
        EXPECT_EQ(search.sets[0].scheme_files.size(), 2u);
        rebuild_all(directories);
        EXPECT_TRUE(contents(scratch.state()) == contents(before));
    }
    fs::resize_file(scratch.place().scheme_file(scratch.set(), 0), 30);
    EXPECT_EQ(search_below({upper, lower}).unusable.size(), 1u);
}

} // namespace
} // namespace cd::redset
