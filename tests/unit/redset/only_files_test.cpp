// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// More scheme files are gone than any header can stand in for, and all files that they protect are
// whole: where members know what their only files are called, nothing is lost.
#include "damages.h"
#include "redset/checksums.h"
#include "redset/thread_exchange.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

const Shape shapes[] = {{Scheme::single, 1, 0},
                        {Scheme::xor_set, 4, 1},
                        {Scheme::reed_solomon, 6, 2},
                        {Scheme::partner, 4, 1}};

std::vector<std::vector<uint64_t>> sizes_of(const Shape &shape) {
    std::vector<std::vector<uint64_t>> sizes;
    for (int member = 0; member < shape.members; ++member) {
        sizes.push_back({5000 + 100 * static_cast<uint64_t>(member)});
    }
    return sizes;
}

Status rebuild(const ScratchSet &scratch, Survey &survey) {
    std::vector<Survey> surveys(scratch.set().ranks.size());
    const Status status = run_members(scratch.set().shape.members, [&](Exchange &exchange) {
        Place place = scratch.place();
        place.only_file = scratch.names(exchange.self()).front();
        return redset::rebuild(exchange, scratch.set(), place, {.sync = false},
                               surveys[index(exchange.self())]);
    });
    survey = std::move(surveys.front());
    return status;
}

class OnlyFiles : public testing::TestWithParam<Shape> {
protected:
    OnlyFiles() {
        EXPECT_TRUE(scratch.apply()) << message();
        before = scratch.state();
    }

    fs::path image(int member) const { return scratch.place().path(scratch.names(member).front()); }

    void lose_scheme_files() const {
        for (int member = 0; member < scratch.set().shape.members; ++member) {
            fs::remove(scratch.place().scheme_file(scratch.set(), member));
        }
    }

    // Which no header can have told: whoever brings the file back has given it to it.
    void touch(int member) const {
        const timespec times[] = {{1000, 0}, {2000, 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, image(member).c_str(), times, 0), 0);
    }

    ScratchSet scratch{single_set(GetParam()), sizes_of(GetParam())};
    FolderState before;
    Survey survey;
};

TEST_P(OnlyFiles, WithoutAnySchemeFileEverythingComesBackAsItWas) {
    lose_scheme_files();
    ASSERT_TRUE(rebuild(scratch, survey)) << message();
    for (const MemberState &member : survey.members) {
        EXPECT_EQ(member.data_lost, "");
        EXPECT_NE(member.payload_lost, "");
    }
    EXPECT_TRUE(contents(scratch.state()) == contents(before));
}

// Then the members have new checksums, and what is lost next comes back by them.
TEST_P(OnlyFiles, TheirTimesNeedNotBeThoseThatHeadersTold) {
    lose_scheme_files();
    touch(0);
    const FolderState left = scratch.state();
    ASSERT_TRUE(rebuild(scratch, survey)) << message();
    const FolderState made = scratch.state();
    for (const auto &[name, state] : left) {
        EXPECT_TRUE(name.ends_with(".cdsums") || made.at(name) == state) << name;
    }
    ASSERT_TRUE(rebuild(scratch, survey)) << message();
    EXPECT_EQ(survey.members.front(), MemberState());
    EXPECT_TRUE(scratch.state() == made);
    for (int member = 0; member < GetParam().checks; ++member) {
        scratch.erase(member);
    }
    ASSERT_TRUE(rebuild(scratch, survey)) << message();
    EXPECT_TRUE(contents(scratch.state()) == contents(made));
}

// No set has files of that size, and few file systems do: one file is told to be as long.
class HugeFile : public ReplacedSystem {
public:
    explicit HugeFile(const fs::path &path) {
        struct stat found = {};
        EXPECT_EQ(::stat(path.c_str(), &found), 0);
        inode_ = found.st_ino;
    }
    int attributes(int fd, os::FileAttributes &attributes) override {
        const int result = System::attributes(fd, attributes);
        struct stat found = {};
        if (::fstat(fd, &found) == 0 && found.st_ino == inode_) {
            attributes.size = (uint64_t{1} << 53) + 1;
        }
        return result;
    }

private:
    ino_t inode_ = 0;
};

TEST_P(OnlyFiles, OneThatIsLargerThanAnyCanBeIsALostOne) {
    if (GetParam().members == 1) {
        return;
    }
    fs::resize_file(image(0), 1);
    {
        const HugeFile huge(image(0));
        ASSERT_TRUE(rebuild(scratch, survey)) << message();
    }
    EXPECT_NE(survey.members.front().data_lost, "");
    EXPECT_TRUE(contents(scratch.state()) == contents(before));
}

// As where whoever brought it back was killed when some files had their names.
TEST_P(OnlyFiles, WhatIsLeftOfAnEarlierRebuildDoesNotMatter) {
    if (GetParam().members == 1) {
        return;
    }
    lose_scheme_files();
    touch(0);
    const FolderState left = scratch.state();
    ASSERT_TRUE(rebuild(scratch, survey)) << message();
    const FolderState made = scratch.state();
    for (unsigned chosen = 0; chosen < 1U << GetParam().members; ++chosen) {
        for (int member = 0; member < GetParam().members; ++member) {
            const std::string sums =
                fs::path(scratch.place().checksums(scratch.set(), member)).filename();
            if ((chosen >> member & 1) != 0) {
                write_file(scratch.folder() / "red" / sums, left.at("red/" + sums).bytes);
            } else {
                fs::remove(scratch.place().scheme_file(scratch.set(), member));
            }
        }
        ASSERT_TRUE(rebuild(scratch, survey)) << message();
        EXPECT_TRUE(contents(scratch.state()) == contents(made)) << chosen;
    }
}

TEST_P(OnlyFiles, ThatAreNotWholeAreLost) {
    lose_scheme_files();
    for (const Damage damage : {Damage::change, Damage::cut, Damage::erase}) {
        damage_file(image(0), damage);
        const FolderState left = scratch.state();
        EXPECT_EQ(rebuild(scratch, survey).code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
        EXPECT_TRUE(scratch.state() == left);
    }
}

TEST_P(OnlyFiles, OfWhichNoChecksumsTellAreLost) {
    lose_scheme_files();
    for (int member = 0; member < GetParam().members; ++member) {
        fs::remove(scratch.place().checksums(scratch.set(), member));
    }
    const FolderState left = scratch.state();
    EXPECT_EQ(rebuild(scratch, survey).code(), CD_ERROR_REDUNDANCY_EXCEEDED) << message();
    EXPECT_NE(std::string(message()).find("nothing that is left tells which files"),
              std::string::npos)
        << message();
    EXPECT_TRUE(scratch.state() == left);
}

INSTANTIATE_TEST_SUITE_P(Schemes, OnlyFiles, testing::ValuesIn(shapes));

} // namespace
} // namespace cd::redset
