// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores on a disk that has no room any more.

#include "../replaced_system.h"
#include "store_directory.h"

#include <algorithm>
#include <cerrno>

namespace cd {
namespace {

class DiskThatFills : public ReplacedSystem {
public:
    int allocate(int fd, off_t offset, off_t length) override {
        errno = ENOSPC;
        return full ? -1 : System::allocate(fd, offset, length);
    }

    bool full = false;
};

class FullDiskTest : public StoreDirectory {
protected:
    bool add(std::vector<char> &memory) const {
        const cd_addrspec all = {memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(root_, &all, 1, nullptr) == CD_SUCCESS;
    }
    // Adds pages until the file has no room for one more.
    bool fill(std::vector<char> &memory) const {
        for (size_t at = 0; at < memory.size(); at += 4096) {
            const cd_addrspec page = {&memory[at], 4096, CD_READ_ONLY, CD_GLOBAL};
            if (add_to_cd_via_copy(root_, &page, 1, nullptr) != CD_SUCCESS) {
                return cd_last_error() == CD_ERROR_STORE_FULL;
            }
        }
        return false;
    }
    static int report(int wrong) {
        std::fprintf(stderr, "%d %s\n", cd_last_error(), cd_last_error_message());
        return wrong;
    }

    cd_handle root_ = nullptr;
};

TEST_F(FullDiskTest, IsAnErrorThatKeepsTheOldStateAndPassesWithRoom) {
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> memory(10'000, 'a');
                  std::vector<char> more(4 << 20);
                  const std::string storage = "store=file,sync=none,dir=" + directory_;
                  root_ = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root",
                                    nullptr);
                  if (!add(memory) || advance_cd_point_in_time(root_) != CD_SUCCESS) {
                      return report(1);
                  }
                  disk.full = true;
                  if (!fill(more)) {
                      return report(2);
                  }
                  int advanced = 0; // until the journal is full
                  while (advanced < 300 && advance_cd_point_in_time(root_) == CD_SUCCESS) {
                      ++advanced;
                  }
                  if (advanced == 300 || cd_last_error() != CD_ERROR_STORE_FULL) {
                      return report(3);
                  }
                  std::ranges::fill(memory, 'b');
                  disk.full = false;
                  if (restore_cd(root_) != CD_SUCCESS || memory[9999] != 'a') {
                      return report(4);
                  }
                  return advance_cd_point_in_time(root_) == CD_SUCCESS ? 0 : report(5);
              }));
}

} // namespace
} // namespace cd
