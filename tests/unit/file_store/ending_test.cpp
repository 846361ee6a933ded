// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The beginning and the end of a store when the directory cannot be forced to the disk.

#include "os/system.h"
#include "store_directory.h"

#include <cerrno>
#include <utility>

namespace cd {
namespace {

class FailingDirectory : public os::System {
public:
    int sync_all(int fd) override {
        return failing(failing_syncs, fd) ? refuse() : System::sync_all(fd);
    }
    int link_at(int directory, const char *from, const char *to) override {
        return failing(failing_links, directory) ? refuse() : System::link_at(directory, from, to);
    }
    int unlink_at(int directory, const char *name) override {
        return failing_syncs == 0 && failing(failing_unlinks, directory)
                   ? refuse()
                   : System::unlink_at(directory, name);
    }
    int failing_syncs = 0;
    int failing_links = 0;
    int failing_unlinks = 0; // once the syncs have failed

private:
    bool failing(int &left, int fd) {
        os::FileStatus status;
        if (left == 0 || System::status(fd, status) != 0 || !S_ISDIR(status.mode)) {
            return false;
        }
        --left;
        return true;
    }
    static int refuse() {
        errno = EIO;
        return -1;
    }
};

class EndingTest : public StoreDirectory {
protected:
    int add() {
        const cd_addrspec range = {&value_, sizeof value_, CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(root_, &range, 1, nullptr);
    }
    // The value that a new process restores; 0 if there is no store.
    int found() {
        return in_process([&] {
            root_ = create();
            cd_info info;
            if (root_ == nullptr || cd_query(root_, &info) != CD_SUCCESS) {
                return 200;
            }
            if (info.restarted == 0) {
                return 0;
            }
            return add() == CD_SUCCESS && restore_cd(root_) == CD_SUCCESS ? value_ : 201;
        });
    }

    cd_handle root_ = nullptr;
    int value_ = 0;
};

TEST_F(EndingTest, RootWhoseCommitFailedGoesOnAndIsFoundAgain) {
    ASSERT_EQ(0, in_process([&] {
                  FailingDirectory system;
                  os::replace_system(&system);
                  root_ = create();
                  value_ = 1;
                  if (add() != CD_SUCCESS) {
                      return 1;
                  }
                  system.failing_syncs = 1;
                  if (commit_cd(root_) == CD_SUCCESS || cd_last_error() != CD_ERROR_STORE_IO) {
                      return 2;
                  }
                  value_ = 2;
                  return advance_cd_point_in_time(root_) == CD_SUCCESS ? 0 : 3;
              }));
    EXPECT_EQ(found(), 2);
    EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
}

TEST_F(EndingTest, CommitOfTheRootCanBeRepeatedAndLeavesNothing) {
    struct Undo {
        int failing_links;
        int failing_unlinks;
    };
    for (const Undo undo : {Undo{0, 0}, Undo{1, 0}, Undo{0, 1}}) {
        ASSERT_EQ(0, in_process([&] {
                      FailingDirectory system;
                      os::replace_system(&system);
                      root_ = create();
                      if (add() != CD_SUCCESS) {
                          return 1;
                      }
                      system.failing_syncs = 1;
                      system.failing_links = undo.failing_links;
                      system.failing_unlinks = undo.failing_unlinks;
                      return commit_cd(root_) != CD_SUCCESS && commit_cd(root_) == CD_SUCCESS ? 0
                                                                                              : 2;
                  }))
            << undo.failing_links << undo.failing_unlinks;
        EXPECT_TRUE(files().empty()) << undo.failing_links << undo.failing_unlinks;
    }
}

// Between this process's open and its lock.
TEST_F(EndingTest, StoreThatItsOwnerEndsWhileItIsOpenedIsNotAttachedTo) {
    struct EndingOwner : os::System {
        int lock_open_file(int fd, pid_t &holder) override {
            std::filesystem::remove(std::exchange(store, ""));
            return System::lock_open_file(fd, holder);
        }
        std::string store;
    };
    ASSERT_EQ(0, in_process([&] {
                  root_ = create();
                  value_ = 1;
                  return add() == CD_SUCCESS ? 0 : 1;
              }));
    ASSERT_EQ(0, in_process([&] {
                  EndingOwner system;
                  system.store = store();
                  os::replace_system(&system);
                  root_ = create();
                  cd_info info;
                  value_ = 2;
                  return root_ != nullptr && cd_query(root_, &info) == CD_SUCCESS &&
                                 info.restarted == 0 && add() == CD_SUCCESS
                             ? 0
                             : 1;
              }));
    EXPECT_EQ(found(), 2);
}

TEST_F(EndingTest, StoreThatCouldNotBeMadeIsNotThere) {
    ASSERT_EQ(0, in_process([&] {
                  FailingDirectory system;
                  os::replace_system(&system);
                  system.failing_syncs = 1;
                  if (create() != nullptr || cd_last_error() != CD_ERROR_STORE_IO) {
                      return 1;
                  }
                  return files().empty() ? 0 : 2;
              }));
    EXPECT_EQ(found(), 0);
}

TEST_F(EndingTest, AMovedFileIsAnErrorAndTheStoreContinuesWhenItIsBack) {
    ASSERT_EQ(0, in_process([&] {
                  root_ = create();
                  value_ = 1;
                  if (add() != CD_SUCCESS) {
                      return 1;
                  }
                  const std::string elsewhere = directory_ + "/elsewhere";
                  std::filesystem::rename(store(), elsewhere);
                  value_ = 2;
                  if (advance_cd_point_in_time(root_) == CD_SUCCESS ||
                      cd_last_error() != CD_ERROR_STORE_DAMAGED) {
                      return 2;
                  }
                  std::filesystem::copy(elsewhere, store()); // has the name, is not the file
                  if (advance_cd_point_in_time(root_) == CD_SUCCESS) {
                      return 3;
                  }
                  std::filesystem::rename(elsewhere, store());
                  return advance_cd_point_in_time(root_) == CD_SUCCESS ? 0 : 4;
              }));
    EXPECT_EQ(found(), 2);
}

TEST_F(EndingTest, ARootWhoseFileSomebodyRemovedCanBeCommittedAndMadeAgain) {
    ASSERT_EQ(0, in_process([&] {
                  root_ = create();
                  if (add() != CD_SUCCESS) {
                      return 1;
                  }
                  std::filesystem::remove(store());
                  if (advance_cd_point_in_time(root_) == CD_SUCCESS ||
                      commit_cd(root_) != CD_SUCCESS) {
                      return 2;
                  }
                  root_ = create();
                  value_ = 3;
                  return root_ != nullptr && add() == CD_SUCCESS ? 0 : 3;
              }));
    EXPECT_EQ(found(), 3);
}

TEST_F(EndingTest, AFileThatSomebodyHasCutIsAnErrorOfTheNextOperation) {
    EXPECT_EQ(in_process([&] {
                  std::vector<char> more(10000);
                  const cd_addrspec all{more.data(), more.size(), CD_READ_WRITE, CD_GLOBAL};
                  root_ = create();
                  if (add() != CD_SUCCESS) {
                      return 127;
                  }
                  std::filesystem::resize_file(store(), 5000);
                  add_to_cd_via_copy(root_, &all, 1, nullptr);
                  const int added = cd_last_error();
                  advance_cd_point_in_time(root_);
                  return added == cd_last_error() ? added : 127;
              }),
              CD_ERROR_STORE_DAMAGED);
}

} // namespace
} // namespace cd
