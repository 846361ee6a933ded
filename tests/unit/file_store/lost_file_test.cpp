// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a program, or somebody else, does to a store that is in use.

#include "os/system.h"
#include "store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

namespace cd {
namespace {

class LostFile : public StoreDirectory {
protected:
    // The error of an operation that writes data, and of the next one.
    static int advance_after(std::vector<char> &memory) {
        is_held(memory);
        const int added = cd_last_error();
        advance_cd_point_in_time(CURRENT_CD);
        return added == cd_last_error() ? added : 127;
    }

    static bool is_held(std::vector<char> &memory) {
        const cd_addrspec all{memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(CURRENT_CD, &all, 1, nullptr) == CD_SUCCESS;
    }
};

// As a program does that closes all that it does not know, and opens files of its own.
void take_descriptors(const std::string &own, int flags) {
    for (int fd = 3; fd < 64; ++fd) {
        ::close(fd);
    }
    while (::open(own.c_str(), flags | O_CLOEXEC) < 63) {
    }
}

void close_all_of(const std::string &path) {
    struct stat closed = {};
    struct stat found = {};
    ::stat(path.c_str(), &closed);
    for (int fd = 3; fd < 64; ++fd) {
        if (::fstat(fd, &found) == 0 && found.st_ino == closed.st_ino) {
            ::close(fd);
        }
    }
}

bool says_to_commit() {
    const std::string message = cd_last_error_message();
    return message.find("Commit the root, which leaves the store as it is") != std::string::npos &&
           message.find("repeated") == std::string::npos;
}

struct Listening : os::System {
    void warn(const char *line) override { lines.emplace_back(line); }
    std::vector<std::string> lines;
};

bool are_all(const std::string &own) {
    struct stat expected = {};
    bool all_are = ::stat(own.c_str(), &expected) == 0;
    for (int fd = 3; fd < 64; ++fd) {
        struct stat found = {};
        all_are = all_are && ::fstat(fd, &found) == 0 && found.st_ino == expected.st_ino;
    }
    return all_are;
}

TEST_F(LostFile, WhoseDescriptorIsTheProgramsOwnFileNowIsAnErrorAndThatFileAsItWas) {
    const std::string own = directory_ + "/own";
    std::ofstream(own) << "the program's";
    EXPECT_EQ(in_process([&] {
                  std::vector<char> memory(10000);
                  std::vector<char> more(10000);
                  if (create() == nullptr || !is_held(memory)) {
                      return 127;
                  }
                  take_descriptors(own, O_RDWR);
                  return advance_after(more);
              }),
              CD_ERROR_STORE_IO);
    std::ostringstream text;
    text << std::ifstream(own).rdbuf();
    EXPECT_EQ(text.str(), "the program's");
}

TEST_F(LostFile, IsNotReadEither) {
    const std::string own = directory_ + "/own";
    std::ofstream(own) << std::string(1 << 20, 'x');
    for (const char *keys : {",checksum=none", ""}) {
        EXPECT_EQ(in_process([&] {
                      std::vector<char> memory(10000, 'm');
                      if (create(keys) == nullptr || !is_held(memory)) {
                          return 127;
                      }
                      take_descriptors(own, O_RDWR);
                      const std::vector<char> before = memory;
                      const bool refused = restore_cd(CURRENT_CD) != CD_SUCCESS &&
                                           cd_last_error() == CD_ERROR_STORE_IO &&
                                           cd_verify(CURRENT_CD, nullptr, nullptr) != CD_SUCCESS;
                      return refused && memory == before ? cd_last_error() : 127;
                  }),
                  CD_ERROR_STORE_IO);
        std::filesystem::remove(store());
    }
}

TEST_F(LostFile, StaysWhenTheRootIsCommittedWhichSaysSoAndWhatTheProgramHasOpenedStaysOpen) {
    const std::string own = directory_ + "/own";
    std::filesystem::create_directory(own);
    EXPECT_EQ(in_process([&] {
                  Listening heard;
                  os::replace_system(&heard);
                  std::vector<char> memory(10000);
                  cd_handle root = create();
                  if (root == nullptr || !is_held(memory) ||
                      create_cd(CURRENT_CD, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr) ==
                          nullptr) {
                      return 127;
                  }
                  take_descriptors(own, O_RDONLY | O_DIRECTORY);
                  const bool ended = commit_cd(root) == CD_SUCCESS && are_all(own);
                  return ended && heard.lines.size() == 1 && heard.lines[0].starts_with(store())
                             ? cd_last_error()
                             : 127;
              }),
              CD_ERROR_NONE);
    EXPECT_TRUE(std::filesystem::exists(store()));
}

TEST_F(LostFile, CanBeGoneOnWithOnceTheRootWasCommittedAsTheErrorsSay) {
    for (const char *closed : {"/0-root.cds", ""}) { // the file, or the directory
        EXPECT_EQ(in_process([&] {
                      std::vector<char> memory(10000);
                      std::vector<char> more(10000);
                      if (create() == nullptr || !is_held(memory) ||
                          advance_cd_point_in_time(CURRENT_CD) != CD_SUCCESS) {
                          return 127;
                      }
                      close_all_of(directory_ + closed);
                      if (advance_after(more) != CD_ERROR_STORE_IO || !says_to_commit()) {
                          return 126;
                      }
                      cd_info info = {};
                      return commit_cd(CURRENT_CD) == CD_SUCCESS && create() != nullptr &&
                                     cd_query(CURRENT_CD, &info) == CD_SUCCESS &&
                                     info.restarted == 1 && is_held(memory) &&
                                     advance_cd_point_in_time(CURRENT_CD) == CD_SUCCESS
                                 ? 0
                                 : cd_last_error();
                  }),
                  0)
            << closed;
        std::filesystem::remove(store());
    }
}

TEST_F(LostFile, IsLeftToTheParentWithoutTakingWhatTheProgramHasOpened) {
    const std::string own = directory_ + "/own";
    std::ofstream(own) << "the program's";
    EXPECT_EQ(in_process([&] {
                  std::vector<char> memory(10000);
                  if (create() == nullptr || !is_held(memory)) {
                      return 127;
                  }
                  take_descriptors(own, O_RDWR);
                  return in_process([&] {
                      const bool refused = restore_cd(CURRENT_CD) != CD_SUCCESS;
                      const int error = refused ? cd_last_error() : 127;
                      return are_all(own) && commit_cd(CURRENT_CD) == CD_SUCCESS && are_all(own)
                                 ? error
                                 : 126;
                  });
              }),
              CD_ERROR_STORE_IO);
}

TEST_F(LostFile, ThatSomebodyHasCutIsAnErrorOfTheNextOperation) {
    EXPECT_EQ(in_process([&] {
                  std::vector<char> memory(10000);
                  std::vector<char> more(10000);
                  if (create() == nullptr || !is_held(memory)) {
                      return 127;
                  }
                  std::filesystem::resize_file(store(), 5000);
                  return advance_after(more);
              }),
              CD_ERROR_STORE_DAMAGED);
}

} // namespace
} // namespace cd
