// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// An add call that fails has bound nothing, so that the program can repeat it with other memory.

#include "restart/bind.h"

#include "../file_store/failing_calls.h"
#include "../file_store/store_directory.h"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace cd {
namespace {

using Heap = std::vector<char>;

class BindAfterRestart : public StoreDirectory {
protected:
    static constexpr size_t size = 1000;

    static bool is(const Heap &memory, char value) {
        return std::ranges::all_of(memory, [&](char byte) { return byte == value; });
    }
    static cd_addrspec all_of(Heap &memory, addr_scope scope = CD_GLOBAL) {
        return {memory.data(), memory.size(), CD_READ_WRITE, scope};
    }
    static bool add(cd_handle cd, const std::vector<cd_addrspec> &list) {
        return add_to_cd_via_copy(cd, list.data(), static_cast<int>(list.size()), nullptr) ==
               CD_SUCCESS;
    }
    static bool is_unbound(cd_handle cd) {
        cd_info info;
        return cd_query(cd, &info) == CD_SUCCESS && info.unbound == size && info.bytes == 0;
    }
    // A point in time with this value in a range that only its order tells from others.
    bool leave(char value) const {
        return 0 == in_process([&] {
                   Heap memory(size);
                   cd_handle root = create();
                   const bool added = add(root, {all_of(memory)});
                   std::ranges::fill(memory, value);
                   return added && advance_cd_point_in_time(root) == CD_SUCCESS ? 0 : 1;
               });
    }
    bool finds(char value) const {
        return 0 == in_process([&] {
                   Heap memory(size);
                   cd_handle root = create();
                   return add(root, {all_of(memory)}) && restore_cd(root) == CD_SUCCESS &&
                                  is(memory, value)
                              ? 0
                              : 1;
               });
    }
};

TEST_F(BindAfterRestart, OfAnAddThatTheCdRefusesIsTakenBack) {
    ASSERT_TRUE(leave('a'));
    EXPECT_EQ(0, in_process([&] {
                  Heap first(size);
                  Heap second(size);
                  cd_handle root = create();
                  if (add(root, {all_of(first, CD_CONSTRAINED)}) ||
                      cd_last_error() != CD_ERROR_SCOPE_FIXED || !is_unbound(root)) {
                      return 1;
                  }
                  if (!add(root, {all_of(second)}) || restore_cd(root) != CD_SUCCESS ||
                      !is(first, 0) || !is(second, 'a')) {
                      return 2;
                  }
                  std::ranges::fill(second, 'b');
                  return add(root, {all_of(second)}) && advance_cd_point_in_time(root) == CD_SUCCESS
                             ? 0
                             : 3;
              }));
    EXPECT_TRUE(finds('b'));
}

// More is added, which needs the disk, and what was bound is split on the way.
TEST_F(BindAfterRestart, OfAnAddForWhichACallFailsIsTakenBack) {
    ASSERT_TRUE(leave('a'));
    EXPECT_EQ(0, in_process([&] {
                  Heap first(size);
                  Heap second(size);
                  Heap more(5 * size);
                  FailingSystem system;
                  cd_handle root = create();
                  const auto add_all = [&](Heap &memory) {
                      return add(root, {all_of(memory),
                                        {memory.data() + 100, 50, CD_READ_ONLY, CD_GLOBAL},
                                        all_of(more)});
                  };
                  int failures = 0;
                  for (;; ++failures) {
                      system.failed = false;
                      system.failing = failures;
                      Heap &memory = failures % 2 == 0 ? first : second;
                      const bool added = add_all(memory);
                      system.failing = -1;
                      if (!system.failed) {
                          return added && failures > 1 && restore_cd(root) == CD_SUCCESS &&
                                         is(memory, 'a')
                                     ? 0
                                     : 2;
                      }
                      if (added || !is_unbound(root)) {
                          return 3;
                      }
                  }
              }));
    EXPECT_TRUE(finds('a'));
}

TEST_F(BindAfterRestart, OfAFileForWhichACallFailsIsTakenBack) {
    const std::string name = directory_ + "/data";
    std::ofstream(name) << std::string(100, 'x');
    const auto open_at = [&](off_t position) {
        const int file = ::open(name.c_str(), O_RDONLY);
        ::lseek(file, position, SEEK_SET);
        return file;
    };
    ASSERT_EQ(
        0, in_process([&] { return add_file_to_cd(create(), open_at(42)) == CD_SUCCESS ? 0 : 1; }));
    EXPECT_EQ(0, in_process([&] {
                  FailingSystem system;
                  cd_handle root = create();
                  const int file = open_at(7);
                  for (int failures = 0;; ++failures) {
                      system.failed = false;
                      system.failing = failures;
                      const int added = add_file_to_cd(root, file);
                      system.failing = -1;
                      if (!system.failed) {
                          return failures > 0 && added == CD_SUCCESS &&
                                         restore_cd(root) == CD_SUCCESS &&
                                         ::lseek(file, 0, SEEK_CUR) == 42
                                     ? 0
                                     : 1;
                      }
                      if (added == CD_SUCCESS) {
                          return 2;
                      }
                  }
              }));
}

} // namespace
} // namespace cd
