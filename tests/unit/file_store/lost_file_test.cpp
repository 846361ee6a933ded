// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A program that closes the descriptors of a store, and opens files of its own.

#include "store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

namespace cd {
namespace {

constexpr int most_descriptors = 64;

void take_descriptors(const std::string &own) {
    for (int fd = 3; fd < most_descriptors; ++fd) {
        ::close(fd);
    }
    while (::open(own.c_str(), O_RDWR | O_CLOEXEC) < most_descriptors - 1) {
    }
}

bool all_are(const std::string &own) {
    struct stat expected = {};
    struct stat found = {};
    bool are = ::stat(own.c_str(), &expected) == 0;
    for (int fd = 3; fd < most_descriptors; ++fd) {
        are = are && ::fstat(fd, &found) == 0 && found.st_ino == expected.st_ino;
    }
    return are;
}

class LostFile : public StoreDirectory {
protected:
    // Expects an error of `call` after the program has taken the descriptors, and its file as it
    // was.
    template <typename Call> void expect_error(const Call &call) {
        const std::string own = directory_ + "/own";
        std::ofstream(own) << "the program's";
        EXPECT_EQ(in_process([&] {
                      if (create() == nullptr || !holds(memory_)) {
                          return 127;
                      }
                      take_descriptors(own);
                      const bool fails = !call() && cd_last_error() == CD_ERROR_STORE_IO;
                      return fails && all_are(own) ? 0 : 126;
                  }),
                  0);
        std::ostringstream text;
        text << std::ifstream(own).rdbuf();
        EXPECT_EQ(text.str(), "the program's");
    }

    static bool holds(std::vector<char> &memory) {
        const cd_addrspec all = {memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(CURRENT_CD, &all, 1, nullptr) == CD_SUCCESS;
    }

    std::vector<char> memory_ = std::vector<char>(10000, 'm');
    std::vector<char> more_ = std::vector<char>(10000);
};

TEST_F(LostFile, IsNotWritten) {
    expect_error([&] { return holds(more_); });
}

TEST_F(LostFile, IsNotRead) {
    expect_error([&] { return restore_cd(CURRENT_CD) == CD_SUCCESS; });
}

TEST_F(LostFile, IsNotRemoved) {
    expect_error([&] { return commit_cd(CURRENT_CD) == CD_SUCCESS; });
    EXPECT_TRUE(std::filesystem::exists(store()));
}

TEST_F(LostFile, IsNotOpenedAnewByAForkedProcess) {
    expect_error([&] {
        const int error = in_process([&] {
            const bool restored = restore_cd(CURRENT_CD) == CD_SUCCESS;
            return !restored && all_are(directory_ + "/own") ? cd_last_error() : 0;
        });
        EXPECT_EQ(error, CD_ERROR_STORE_IO);
        return restore_cd(CURRENT_CD) == CD_SUCCESS;
    });
}

} // namespace
} // namespace cd
