// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace {

class Files : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        std::string name = (std::filesystem::temp_directory_path() / "cd-files-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
        fd = open_file("data");
        root = make_root();
    }

    void TearDown() override {
        CdTest::TearDown();
        close(fd);
        std::filesystem::remove_all(directory_);
    }

    int open_file(const char *name) const {
        const int opened = open((directory_ + "/" + name).c_str(), O_RDWR | O_CREAT, 0600);
        EXPECT_GE(opened, 0);
        return opened;
    }

    // Returns when a new file is born later than `fd`, as far as the file system tells births.
    void wait_for_later_births() const {
        struct statx first = {}, probe = {};
        do {
            const int opened = open_file("probe");
            ASSERT_EQ(statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &first), 0);
            ASSERT_EQ(statx(opened, "", AT_EMPTY_PATH, STATX_BTIME, &probe), 0);
            close(opened);
            unlink((directory_ + "/probe").c_str());
        } while (probe.stx_btime.tv_sec == first.stx_btime.tv_sec &&
                 probe.stx_btime.tv_nsec == first.stx_btime.tv_nsec &&
                 (probe.stx_mask & STATX_BTIME) != 0);
    }

    // Gives its descriptor back as well, so that the inode is free.
    void remove_file(const char *name) const {
        ASSERT_EQ(unlink((directory_ + "/" + name).c_str()), 0);
        ASSERT_EQ(close(fd), 0);
    }

    static void move_to(int descriptor, long position) { lseek(descriptor, position, SEEK_SET); }
    static long position_of(int descriptor) { return lseek(descriptor, 0, SEEK_CUR); }

    int fd;
    cd_handle root;

private:
    std::string directory_;
};

TEST_F(Files, WhereDuplicatesAreHeldTheOldestPositionCounts) {
    const int duplicate = dup(fd);
    for (const auto &[of_root, of_child] : {std::pair(fd, duplicate), std::pair(duplicate, fd)}) {
        const cd_handle top = make_root(COMM_LOGGING_DISABLED, nullptr, "duplicates");
        move_to(fd, 10);
        ASSERT_TRUE(succeeds(add_file_to_cd(top, of_root)));
        move_to(fd, 100);
        ASSERT_TRUE(succeeds(add_file_to_cd(make_child(top), of_child)));
        ASSERT_TRUE(succeeds(restore_cd(top)));
        EXPECT_EQ(position_of(fd), 10) << of_root << " is the root's";
        ASSERT_TRUE(succeeds(commit_cd(top)));
    }
    close(duplicate);
}

TEST_F(Files, RestoreBringsThePositionBackAndLeavesTheDataAlone) {
    ASSERT_EQ(write(fd, "0123456789", 10), 10);
    ASSERT_TRUE(succeeds(add_file_to_cd(root, fd)));
    EXPECT_EQ(info_of(root).files, 1U);
    ASSERT_EQ(write(fd, "abc", 3), 3);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(position_of(fd), 10);
    EXPECT_EQ(lseek(fd, 0, SEEK_END), 13);
}

TEST_F(Files, APathThatIsNotOpenedHasNoPosition) {
    const int path = open("/", O_PATH);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_NOT_SEEKABLE, add_file_to_cd(root, path), {"O_PATH"}));
    close(path);
}

TEST_F(Files, TheMessageNamesTheDescendantThatHoldsTheFile) {
    const cd_handle child = make_child(root);
    const std::string name = std::string("CD ") + cd_name(child) + ":";
    ASSERT_TRUE(succeeds(add_file_to_cd(child, fd)));
    const int other = open_file("other");
    ASSERT_EQ(dup2(other, fd), fd);
    close(other);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_CHANGED, restore_cd(root)));
    EXPECT_EQ(last_message().substr(0, name.size()), name);
    close(fd);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_BAD_DESCRIPTOR, restore_cd(root)));
    EXPECT_EQ(last_message().substr(0, name.size()), name);
    ASSERT_TRUE(succeeds(delete_file_from_cd(child, fd))) << "which the message has made clear";
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

// Many file systems give a new file the inode of one that has just been removed.
TEST_F(Files, AFileThatCameAfterTheAddedOneWasRemovedIsAnotherOne) {
    ASSERT_TRUE(succeeds(add_file_to_cd(root, fd)));
    wait_for_later_births();
    remove_file("data");
    const int another = open_file("another");
    ASSERT_EQ(another, fd);
    move_to(fd, 7);
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_CHANGED, restore_cd(root)));
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_CHANGED, advance_cd_point_in_time(root)));
    EXPECT_TRUE(fails_with(CD_ERROR_FILE_CHANGED, add_file_to_cd(root, fd)));
    EXPECT_EQ(position_of(fd), 7);
}

} // namespace
