// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores with several points in time of which the newest are damaged.

#include "os/system.h"
#include "store_directory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace cd {
namespace {

constexpr size_t length = 100'000;

class HeardSystem : public os::System {
public:
    void warn(const char *line) override { lines.emplace_back(line); }
    std::vector<std::string> lines;
};

class DamagedPointInTime : public StoreDirectory {
protected:
    // Points in time 0 to 3, of which all bytes have the value of their epoch and 'a'.
    void write(const char *keep) const {
        ASSERT_EQ(0, in_process([&] {
                      std::vector<char> bytes(length, 'a');
                      const cd_handle root = create(keep);
                      const cd_addrspec range = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
                      for (char value = 'b'; value <= 'd'; ++value) {
                          if (add_to_cd_via_copy(root, &range, 1, nullptr) != CD_SUCCESS) {
                              return 1;
                          }
                          std::ranges::fill(bytes, value);
                          if (advance_cd_point_in_time(root) != CD_SUCCESS) {
                              return 2;
                          }
                      }
                      return 0;
                  }));
    }

    // Changes one byte in the middle of what has this value.
    void damage(char value) const {
        std::string bytes = contents();
        const size_t at = bytes.find(std::string(length, value));
        ASSERT_NE(at, std::string::npos) << value;
        bytes[at + length / 2] ^= 1;
        std::ofstream(store(), std::ios::binary) << bytes;
    }

    std::string contents() const {
        std::ifstream file(store(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    // The value that a new process restores; its error's code if it has none. lines: how often it
    // warned.
    int found(const char *keep, int lines) const {
        return in_process([&]() -> int {
            HeardSystem heard;
            os::replace_system(&heard);
            std::vector<char> bytes(length, 'z');
            const cd_handle root = create(keep);
            if (root == nullptr) {
                return cd_last_error();
            }
            const cd_addrspec range = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
            cd_info info;
            if (add_to_cd_via_copy(root, &range, 1, nullptr) != CD_SUCCESS ||
                cd_query(root, &info) != CD_SUCCESS) {
                return 1;
            }
            if (restore_cd(root) != CD_SUCCESS) {
                return cd_last_error();
            }
            if (heard.lines.size() != static_cast<size_t>(lines) ||
                info.epoch != static_cast<uint64_t>(bytes[0] - 'a') ||
                std::ranges::count(bytes, bytes[0]) != static_cast<ptrdiff_t>(length)) {
                return 2;
            }
            return static_cast<int>(bytes[0]);
        });
    }
};

TEST_F(DamagedPointInTime, TheNewestIsTakenWhenItIsWhole) {
    write(",keep=3");
    EXPECT_EQ(found(",keep=3", 0), 'd');
}

TEST_F(DamagedPointInTime, AnOlderOneIsTakenInstead) {
    write(",keep=3");
    damage('d');
    EXPECT_EQ(found(",keep=3", 1), 'c');
    EXPECT_EQ(found(",keep=3", 0), 'c') << "the next process has no choice to make any more";
}

TEST_F(DamagedPointInTime, TheNewestOfThoseThatAreWholeIsTaken) {
    write(",keep=3");
    damage('d');
    damage('c');
    EXPECT_EQ(found(",keep=3", 1), 'b');
}

TEST_F(DamagedPointInTime, WhatIsTakenCanBeAdvancedAsAnyOther) {
    write(",keep=3");
    damage('d');
    ASSERT_EQ(0, in_process([&] {
                  HeardSystem heard;
                  os::replace_system(&heard);
                  std::vector<char> bytes(length);
                  const cd_handle root = create(",keep=3");
                  const cd_addrspec range = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
                  if (add_to_cd_via_copy(root, &range, 1, nullptr) != CD_SUCCESS ||
                      restore_cd(root) != CD_SUCCESS) {
                      return 1;
                  }
                  std::ranges::fill(bytes, 'd'); // epoch 3 again
                  return advance_cd_point_in_time(root) == CD_SUCCESS ? 0 : 2;
              }));
    EXPECT_EQ(found(",keep=3", 0), 'd');
}

// The room of those that are not wanted any more is not free while the file says that they are
// there.
TEST_F(DamagedPointInTime, OlderOnesAreLeftAloneByAProcessThatKeepsFewer) {
    write(",keep=3");
    ASSERT_EQ(0, in_process([&] {
                  std::vector<char> bytes(length);
                  std::vector<char> more(20 * length, 'm');
                  const cd_handle root = create();
                  const cd_addrspec known = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
                  if (add_to_cd_via_copy(root, &known, 1, nullptr) != CD_SUCCESS) {
                      return 1;
                  }
                  for (size_t at = 0; at < more.size(); at += length / 2) {
                      const cd_addrspec range = {&more[at], length / 2, CD_READ_ONLY, CD_GLOBAL};
                      if (add_to_cd_via_copy(root, &range, 1, nullptr) != CD_SUCCESS) {
                          return 2;
                      }
                  }
                  return 0;
              }));
    damage('d');
    EXPECT_EQ(found(",keep=3", 1), 'c');
}

TEST_F(DamagedPointInTime, WithoutAWholeOneOpeningFailsAndLeavesTheFile) {
    write(",keep=3");
    damage('d');
    damage('c');
    damage('b');
    const std::string before = contents();
    EXPECT_EQ(found(",keep=3", 0), CD_ERROR_CHECKSUM);
    EXPECT_EQ(contents(), before);
}

TEST_F(DamagedPointInTime, TheOnlyOneFailsWhenItIsRestored) {
    write("");
    damage('d');
    const std::string before = contents();
    EXPECT_EQ(found("", 0), CD_ERROR_CHECKSUM);
    EXPECT_EQ(contents().substr(0, 8192), before.substr(0, 8192));
}

} // namespace
} // namespace cd
