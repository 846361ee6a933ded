// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What goes on where the file cannot grow any more, since it needs no room but what is kept for it.

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
    static constexpr size_t many = 1300; // entries: more than are bound without moving the metadata

    cd_handle create() const {
        const std::string storage = "store=file,sync=none,dir=" + directory_;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }
    // So many elements of 8 bytes each, with a byte between them.
    static std::vector<cd_addrspec> pieces(std::vector<char> &memory, size_t count) {
        std::vector<cd_addrspec> list;
        for (size_t i = 0; i < count; ++i) {
            list.push_back({&memory[9 * i], 8, CD_READ_WRITE, CD_GLOBAL});
        }
        return list;
    }
    static bool add(cd_handle cd, const std::vector<cd_addrspec> &list) {
        return add_to_cd_via_copy(cd, list.data(), static_cast<int>(list.size()), nullptr) ==
               CD_SUCCESS;
    }
    static bool add(cd_handle cd, std::vector<char> &memory) {
        return add(cd, {{memory.data(), memory.size(), CD_READ_WRITE, CD_GLOBAL}});
    }
    // Until the file has no room for more.
    static bool fill(cd_handle cd, std::vector<char> &memory) {
        size_t filled = 0;
        while (filled < memory.size() &&
               add(cd, {{&memory[filled], 4096, CD_READ_ONLY, CD_GLOBAL}})) {
            filled += 4096;
        }
        return filled < memory.size() && cd_last_error() == CD_ERROR_STORE_FULL;
    }
    static cd_handle child_of(cd_handle parent) {
        return create_cd(parent, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    }
    static int told(int wrong) {
        std::fprintf(stderr, "%d %s\n", cd_last_error(), cd_last_error_message());
        return wrong;
    }
};

TEST_F(FullDiskTest, ARootIsRestoredAfterAProcessWasKilledInAChild) {
    ASSERT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> memory(9 * many, 'a');
                  std::vector<char> more(4 << 20);
                  cd_handle root = create();
                  if (!add(root, pieces(memory, many)) || !add(child_of(root), memory)) {
                      return told(1);
                  }
                  disk.full = true;
                  return fill(root, more) ? 0 : told(2);
              }));
    ASSERT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  disk.full = true;
                  std::vector<char> memory(9 * many);
                  cd_handle root = create();
                  if (!add(root, pieces(memory, many)) || restore_cd(root) != CD_SUCCESS) {
                      return told(1);
                  }
                  return memory[0] == 'a' && memory[9 * many - 2] == 'a' ? 0 : 2;
              }));
    EXPECT_EQ(0, in_process([&] {
                  cd_handle root = create();
                  // But not for its children.
                  return advance_cd_point_in_time(root) != CD_SUCCESS &&
                                 cd_last_error() == CD_ERROR_RESTART_UNBOUND
                             ? 0
                             : 1;
              }));
}

// However often the journal is full.
TEST_F(FullDiskTest, AProgramGoesOnWithWhatItHas) {
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> memory(10'000);
                  std::vector<char> more(4 << 20);
                  cd_handle root = create();
                  bool goes_on = add(root, memory) && advance_cd_point_in_time(root) == CD_SUCCESS;
                  disk.full = true;
                  goes_on = goes_on && fill(root, more);
                  for (int i = 0; i < 300 && goes_on; ++i) {
                      goes_on = add(root, memory) && advance_cd_point_in_time(root) == CD_SUCCESS;
                  }
                  return goes_on ? 0 : told(1);
              }));
}

// An advance does not take what the process before has kept for the metadata.
TEST_F(FullDiskTest, AProcessGoesOnWithWhatTheOneBeforeHasKept) {
    constexpr size_t count = 100; // more than the journal has records
    const auto process = [&](const auto &work) {
        return in_process([&] {
            DiskThatFills disk;
            std::vector<char> memory(9 * count);
            std::vector<char> large(500'000);
            cd_handle root = create();
            const std::vector<cd_addrspec> list = pieces(memory, count);
            return add(root, list) && add(root, large) ? work(disk, root, list) : told(1);
        });
    };
    ASSERT_EQ(0, process([&](DiskThatFills &disk, cd_handle root, const auto &) {
                  std::vector<char> more(4 << 20);
                  disk.full = true;
                  return fill(root, more) ? 0 : told(2);
              }));
    EXPECT_EQ(0, process([&](DiskThatFills &disk, cd_handle root, const auto &list) {
                  disk.full = true;
                  if (advance_cd_point_in_time(root) == CD_SUCCESS) {
                      std::fputs("there was room for the advance\n", stderr);
                  }
                  for (const cd_addrspec &piece : list) {
                      if (delete_from_cd(root, &piece, 1) != CD_SUCCESS) {
                          return told(3);
                      }
                  }
                  return 0;
              }));
}

// Also if that cuts an entry into so many that nobody has kept room for them.
TEST_F(FullDiskTest, ARootIsRestoredAlsoIfManySingleBytesWereDeleted) {
    constexpr size_t bytes = 50'000;
    const auto restores = [](cd_handle root) { return restore_cd(root) == CD_SUCCESS; };
    ASSERT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> memory(bytes, 'a');
                  std::vector<char> more(4 << 20);
                  cd_handle root = create();
                  if (!add(root, memory) ||
                      !add(child_of(root), {{more.data(), 8, CD_READ_WRITE, CD_GLOBAL}})) {
                      return told(1);
                  }
                  disk.full = true;
                  if (!fill(root, more)) {
                      return told(2);
                  }
                  for (size_t first = 0, count = 1; first < bytes; first += 2 * count, count *= 2) {
                      std::vector<cd_addrspec> list;
                      for (size_t i = first; i < std::min(bytes, first + 2 * count); i += 2) {
                          list.push_back({&memory[i], 1, CD_READ_WRITE, CD_GLOBAL});
                      }
                      const int size = static_cast<int>(list.size());
                      if (delete_from_cd(root, list.data(), size) != CD_SUCCESS) {
                          // What there was no room for has not happened.
                          memory[first] = 'b';
                          return cd_last_error() == CD_ERROR_STORE_FULL && count > 1000 &&
                                         restores(root) && memory[first] == 'a' &&
                                         add(child_of(root),
                                             {{&memory[first], 1, CD_READ_WRITE, CD_GLOBAL}})
                                     ? 0
                                     : told(3);
                      }
                  }
                  return 4;
              }));
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  disk.full = true;
                  return restores(create()) ? 0 : told(1);
              }));
}

TEST_F(FullDiskTest, AProgramGoesOnWhereThereIsNoRoomToKeepPointsInTime) {
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  constexpr size_t count = 1500;
                  std::vector<char> memory(9 * count, 'a');
                  std::vector<char> large(1 << 19);
                  const cd_addrspec all = {large.data(), large.size(), CD_READ_WRITE, CD_GLOBAL};
                  const std::vector<cd_addrspec> list = pieces(memory, count);
                  const std::string storage = "store=file,sync=none,keep=99,dir=" + directory_;
                  cd_handle root = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED,
                                             "root", nullptr);
                  if (!add(root, list) || !add(root, large) ||
                      delete_from_cd(root, &all, 1) != CD_SUCCESS) {
                      return told(1);
                  }
                  disk.full = true;
                  int advanced = 0;
                  while (advanced < 99 && advance_cd_point_in_time(root) == CD_SUCCESS) {
                      ++advanced;
                  }
                  if (advanced == 0 || advanced == 99 || cd_last_error() != CD_ERROR_STORE_FULL) {
                      return told(2);
                  }
                  for (const cd_addrspec &piece : list) {
                      if (delete_from_cd(root, &piece, 1) != CD_SUCCESS) {
                          return told(3);
                      }
                  }
                  return 0;
              }));
}

TEST_F(FullDiskTest, ARootIsRestoredAfterAProcessWasKilledInAChildThatHoldsMuch) {
    constexpr size_t much = 20'000;
    ASSERT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> memory(9 * much, 'a');
                  std::vector<char> more(8 << 20);
                  cd_handle root = create();
                  if (!add(child_of(root), pieces(memory, much))) {
                      return told(1);
                  }
                  disk.full = true;
                  return fill(root, more) ? 0 : told(2);
              }));
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  disk.full = true;
                  return restore_cd(create()) == CD_SUCCESS ? 0 : told(1);
              }));
}

// The metadata grow into what the file has still room for, until there is none.
TEST_F(FullDiskTest, ARootIsRestoredAlsoIfMoreWasAddedThanThereIsRoomFor) {
    EXPECT_EQ(0, in_process([&] {
                  DiskThatFills disk;
                  std::vector<char> large(1 << 20);
                  std::vector<char> small(9 * 40 * 500, 'a');
                  const std::vector<cd_addrspec> list = pieces(small, 40 * 500);
                  const cd_addrspec all = {large.data(), large.size(), CD_READ_WRITE, CD_GLOBAL};
                  cd_handle root = create();
                  if (!add(root, large) || delete_from_cd(root, &all, 1) != CD_SUCCESS) {
                      return told(1);
                  }
                  cd_handle child = child_of(root);
                  if (!add(child, {list[0]})) {
                      return told(2);
                  }
                  disk.full = true;
                  size_t added = 0;
                  while (added < list.size() && add(root, {&list[added], &list[added] + 500})) {
                      added += 500;
                  }
                  if (added == 0 || added == list.size() ||
                      cd_last_error() != CD_ERROR_STORE_FULL) {
                      return told(3);
                  }
                  std::ranges::fill(small, 'b');
                  if (restore_cd(root) != CD_SUCCESS || small[9 * added - 2] != 'a') {
                      return told(4);
                  }
                  return 0;
              }));
}

} // namespace
} // namespace cd
