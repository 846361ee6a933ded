// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/file_positions.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

namespace cd {
namespace {

// A system of files that exist only as their positions.
class FakeFiles : public ReplacedSystem {
public:
    struct File {
        ino_t inode;
        off_t position;
        int identify_error = 0;
        int64_t born = 0;
        int seek_error = 0;
    };

    off_t seek(int fd, off_t offset, int whence) override {
        File &file = files.at(fd);
        if (file.seek_error != 0) {
            errno = file.seek_error;
            return -1;
        }
        file.position = whence == SEEK_SET ? offset : file.position + offset;
        return file.position;
    }

    int identify(int fd, os::FileIdentity &identity) override {
        const auto found = files.find(fd);
        const int error = found != files.end() ? found->second.identify_error : EBADF;
        if (error != 0) {
            errno = error;
            return -1;
        }
        identity = {device, found->second.inode, found->second.born};
        return 0;
    }

    std::map<int, File> files;
    dev_t device = 1;
};

struct FilePositions : testing::Test {
    FilePositions() {
        domain.identity = "0/root/0/0";
        system.files[3] = {103, 30};
        system.files[4] = {104, 40};
        for (const int descriptor : {3, 4}) {
            FilePosition file;
            EXPECT_TRUE(read_position(domain, descriptor, file));
            domain.files.add(file);
        }
        system.files[3].position = 33;
        system.files[4].position = 44;
    }

    cd_error read_one(int descriptor) {
        FilePosition file;
        return read_position(domain, descriptor, file).code();
    }

    cd_error read_all() { return read_positions(domain, positions).code(); }

    cd_error set_back() {
        Status status;
        for (const FilePosition &file : domain.files) {
            status = status ? set_position(domain, file) : status;
        }
        return status.code();
    }

    FakeFiles system;
    Domain domain;
    std::vector<FilePosition> positions;
};

TEST_F(FilePositions, ReadsPositionAndIdentity) {
    FilePosition file;
    ASSERT_TRUE(read_position(domain, 4, file));
    EXPECT_EQ(file.descriptor, 4);
    EXPECT_EQ(file.device, 1u);
    EXPECT_EQ(file.inode, 104u);
    EXPECT_EQ(file.position, 44);
}

TEST_F(FilePositions, TellsTheSystemsErrorsApart) {
    EXPECT_EQ(read_one(9), CD_ERROR_FILE_BAD_DESCRIPTOR);
    system.files[3].seek_error = ESPIPE;
    EXPECT_EQ(read_one(3), CD_ERROR_FILE_NOT_SEEKABLE);
    system.files[3].seek_error = EBADF;
    EXPECT_EQ(read_one(3), CD_ERROR_FILE_NOT_SEEKABLE);
    EXPECT_NE(std::string(message()).find("O_PATH"), std::string::npos) << message();
    system.files[3].seek_error = EIO;
    EXPECT_EQ(read_one(3), CD_ERROR_FILE_SYSTEM);
    EXPECT_NE(std::string(message()).find("descriptor 3"), std::string::npos) << message();
    EXPECT_NE(std::string(message()).find("Input/output error"), std::string::npos) << message();
    system.files[4].identify_error = EIO;
    EXPECT_EQ(read_one(4), CD_ERROR_FILE_SYSTEM);
}

TEST_F(FilePositions, AFailedReadLeavesTheResultAlone) {
    FilePosition file = {7, 7, 7, 7};
    system.files[3].seek_error = EIO;
    EXPECT_FALSE(read_position(domain, 3, file));
    EXPECT_EQ(file.descriptor, 7);
}

TEST_F(FilePositions, ReadsWhereAllFilesStandNow) {
    positions.push_back({1, 1, 1, 1}); // is replaced
    ASSERT_EQ(read_all(), CD_ERROR_NONE);
    ASSERT_EQ(positions.size(), 2u);
    EXPECT_EQ(positions[0].position, 33);
    EXPECT_EQ(positions[1].position, 44);
    EXPECT_EQ(positions[1].inode, 104u);
}

TEST_F(FilePositions, FindsAnotherFileOnTheDescriptor) {
    system.files[4].inode = 105;
    EXPECT_EQ(read_all(), CD_ERROR_FILE_CHANGED);
    EXPECT_NE(std::string(message()).find("0/root/0/0"), std::string::npos) << message();
    system.files[4].inode = 104;
    system.device = 2;
    EXPECT_EQ(read_all(), CD_ERROR_FILE_CHANGED);
    system.device = 1;
    EXPECT_EQ(read_all(), CD_ERROR_NONE);
    system.files[4].born = 1; // when it was added, nobody told
    EXPECT_EQ(read_all(), CD_ERROR_NONE);
    system.files.erase(4);
    EXPECT_EQ(read_all(), CD_ERROR_FILE_BAD_DESCRIPTOR);
}

TEST_F(FilePositions, SetsFilesBackAndTellsWhichOneCannotBe) {
    system.files[4].seek_error = EIO;
    EXPECT_EQ(set_back(), CD_ERROR_FILE_SYSTEM);
    EXPECT_NE(std::string(message()).find("descriptor 4"), std::string::npos) << message();
    system.files[4].seek_error = 0;
    EXPECT_EQ(set_back(), CD_ERROR_NONE) << "it can be repeated";
    EXPECT_EQ(system.files[3].position, 30);
    EXPECT_EQ(system.files[4].position, 40);
}

} // namespace
} // namespace cd
