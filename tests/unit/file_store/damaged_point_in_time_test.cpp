// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores with several points in time of which the newest are damaged.

#include "content.h"
#include "os/system.h"
#include "store_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace cd {
namespace {

constexpr size_t length = 100'000;

// Collects the warnings, and has a disk that cannot read some of its bytes.
class HeardSystem : public os::System {
public:
    void warn(const char *line) override { lines.emplace_back(line); }
    ssize_t read_at(int fd, void *to, size_t size, off_t offset) override {
        const bool reaches = offset < lost.second && lost.first < offset + static_cast<off_t>(size);
        if (!reaches || failures == 0) {
            return System::read_at(fd, to, size, offset);
        }
        --failures;
        errno = error;
        return -1;
    }
    std::vector<std::string> lines;
    std::pair<off_t, off_t> lost = {0, 0}; // from and to
    int error = EIO;
    int failures = -1; // only so many; -1: always
};

class DamagedPointInTime : public StoreDirectory {
protected:
    // Points in time, 0 to 3 at first, of which all bytes have the value of their epoch and 'a'.
    void write(const char *keep, char first = 'b', char last = 'd') const {
        ASSERT_EQ(0, in_process([&] {
                      std::vector<char> bytes(length, 'a');
                      const cd_handle root = create(keep);
                      const cd_addrspec range = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
                      for (char value = first; value <= last; ++value) {
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

    std::string contents() const { return scratch::content(store()); }

    // Returns the offset of the middle of the data with this value.
    off_t place_of(char value) const {
        return static_cast<off_t>(contents().find(std::string(length, value)) + length / 2);
    }

    // The value that a new process restores; its error's code if it has none. lines: how often it
    // warned.
    int found(const char *keep, int lines) const { return found(keep, lines, HeardSystem()); }

    // Does the same with the system `heard`.
    int found(const char *keep, int lines, HeardSystem heard) const {
        return in_process([&]() -> int {
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

TEST_F(DamagedPointInTime, AnOlderOneIsTakenInstead) {
    for (const std::string damaged : {"d", "dc"}) {
        std::filesystem::remove(store());
        write(",keep=3");
        for (const char value : damaged) {
            damage(value);
        }
        const char newest = damaged == "d" ? 'c' : 'b';
        EXPECT_EQ(found(",keep=3", 1), newest);
        EXPECT_EQ(found(",keep=3", 0), newest) << "the next process has no choice to make any more";
    }
}

// One line names the file and the choice that was made, and asks for nothing.
TEST_F(DamagedPointInTime, IsToldWithEveryReasonAndNoAdvice) {
    write(",keep=3");
    damage('d');
    damage('c');
    EXPECT_EQ(0, in_process([&] {
                  HeardSystem heard;
                  os::replace_system(&heard);
                  if (create(",keep=3") == nullptr || heard.lines.size() != 1) {
                      return 1;
                  }
                  const std::string &line = heard.lines[0];
                  const auto count = [&](const std::string &text) {
                      size_t found = 0;
                      for (size_t at = 0; (at = line.find(text, at)) != line.npos; ++at) {
                          ++found;
                      }
                      return found;
                  };
                  const bool right =
                      count(store()) == 1 && count("CD_RESTART") == 0 &&
                      count("do not match their checksum") == 2 &&
                      line.ends_with("; taking the newest state that is whole, epoch 1");
                  if (!right) {
                      std::fprintf(stderr, "%s\n", line.c_str());
                  }
                  return right ? 0 : 2;
              }));
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

// Operations that the damage hides may have overwritten its data.
TEST_F(DamagedPointInTime, AnOlderOneWithoutChecksumsIsNotChosenBehindDamage) {
    write(",keep=3,checksum=none");
    write(",keep=3", 'e', 'g');
    const std::string whole = contents();
    int refused = 0;
    for (size_t record = 0; (record = whole.find("CDEC", record)) != whole.npos; ++record) {
        for (const char *epoch : {"1", "2", "3"}) {
            std::string bytes = whole;
            bytes[record + 45] ^= 1;
            std::ofstream(store(), std::ios::binary) << bytes;
            ::setenv("CD_RESTART", epoch, 1);
            const int result = found(",keep=3", 0);
            EXPECT_GE(result, CD_ERROR_ARGUMENT) << "record at " << record << ", epoch " << epoch;
            refused += result == CD_ERROR_STORE_DAMAGED ? 1 : 0;
        }
    }
    EXPECT_GT(refused, 0);
    ::unsetenv("CD_RESTART");
}

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
    EXPECT_EQ(in_process([&] {
                  const cd_handle root = create(",keep=3");
                  const std::string message = cd_last_error_message();
                  const auto says = [&](const char *part) {
                      return message.find(part) != std::string::npos;
                  };
                  return root == nullptr && message.starts_with(store()) &&
                                 says("no whole point in time is in the store (epoch 3 and older "
                                      "ones): the 65536 bytes of data at offset ") &&
                                 says("start with CD_RESTART=no") && !says("can choose")
                             ? 0
                             : 1;
              }),
              0);
    EXPECT_EQ(contents(), before);
}

// This holds for the newest too, while older ones can still be chosen.
TEST_F(DamagedPointInTime, AnEpochThatIsAskedForIsAnErrorOfTheStartThatLeavesTheFile) {
    write(",keep=3");
    damage('d');
    damage('c');
    damage('b');
    const std::string before = contents();
    for (const char *epoch : {"3", "2", "1"}) {
        ::setenv("CD_RESTART", epoch, 1);
        EXPECT_EQ(in_process([&] {
                      const cd_handle root = create(",keep=3");
                      const std::string message = cd_last_error_message();
                      const bool says = message.starts_with(store()) &&
                                        message.find("bytes of data at offset ") != message.npos &&
                                        message.find("do not match") != message.npos;
                      return root == nullptr && says ? cd_last_error() : 0;
                  }),
                  CD_ERROR_CHECKSUM)
            << epoch;
        EXPECT_EQ(contents(), before) << epoch;
    }
    ::unsetenv("CD_RESTART");
}

class LostBlock : public DamagedPointInTime {
protected:
    static HeardSystem lost_at(off_t offset) {
        HeardSystem system;
        system.lost = {offset, offset + 1};
        return system;
    }
    off_t last_record() const {
        const std::string bytes = contents();
        const size_t at = bytes.rfind("CDEC");
        EXPECT_NE(at, std::string::npos);
        return static_cast<off_t>(at);
    }
};

TEST_F(LostBlock, CostsAPointInTimeOnlyWhereThereIsNoCopy) {
    write(",keep=3");
    const std::string whole = contents();
    struct Row {
        const char *block;
        off_t place;
        int warnings;
        char taken;
    };
    const Row rows[] = {{"newest data", place_of('d'), 1, 'c'},
                        {"first header", 0, 1, 'd'},
                        {"second header", 4096, 1, 'd'}};
    for (const Row &row : rows) {
        std::ofstream(store(), std::ios::binary) << whole;
        EXPECT_EQ(found(",keep=3", row.warnings, lost_at(row.place)), row.taken) << row.block;
    }
}

TEST_F(LostBlock, ThatCanBeReadLaterIsNoDamage) {
    write(",keep=3");
    for (const off_t place : {off_t{0}, last_record(), place_of('d')}) {
        const std::string before = contents();
        HeardSystem busy = lost_at(place);
        busy.error = ENOMEM;
        EXPECT_EQ(found(",keep=3", 0, busy), CD_ERROR_STORE_IO) << place;
        EXPECT_TRUE(contents() == before) << place;
        HeardSystem interrupted = lost_at(place);
        interrupted.error = EINTR;
        interrupted.failures = 3;
        EXPECT_EQ(found(",keep=3", 0, interrupted), 'd') << place;
        HeardSystem once = lost_at(place);
        once.failures = 1;
        EXPECT_EQ(found(",keep=3", 0, once), 'd') << place << " can be read the next time";
    }
}

TEST_F(LostBlock, OfAnOlderPointInTimeForAWhileDoesNotDiscardThat) {
    write(",keep=3");
    damage('d');
    const std::string before = contents();
    HeardSystem busy = lost_at(place_of('c'));
    busy.error = ENOMEM;
    EXPECT_EQ(found(",keep=3", 0, busy), CD_ERROR_STORE_IO);
    EXPECT_TRUE(contents() == before);
    EXPECT_EQ(found(",keep=3", 1), 'c');
}

TEST_F(LostBlock, OfTheOnlyPointInTimeFailsTheRestoreAndSaysWhereItWas) {
    write("");
    const off_t place = place_of('d');
    EXPECT_EQ(found("", 0, lost_at(place)), CD_ERROR_STORE_DAMAGED);
    EXPECT_EQ(found("", 0), 'd') << "and is there when the disk can read again";
}

// A restore has promised them: they are written when they are bound, or they are not bound.
TEST_F(LostBlock, OfBytesThatAreOwedLeavesThemUnboundUntilTheyCanBeWritten) {
    write("");
    const off_t place = place_of('d');
    EXPECT_EQ(0, in_process([&] {
                  HeardSystem heard = lost_at(place);
                  heard.failures = 2;
                  os::replace_system(&heard);
                  std::vector<char> bytes(length, 'z');
                  const cd_handle root = create();
                  const cd_addrspec range = {bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
                  cd_info info;
                  if (restore_cd(root) != CD_SUCCESS) {
                      return 1;
                  }
                  if (add_to_cd_via_copy(root, &range, 1, nullptr) == CD_SUCCESS ||
                      cd_last_error() != CD_ERROR_STORE_DAMAGED) {
                      return 2;
                  }
                  if (cd_query(root, &info) != CD_SUCCESS || info.unbound != length ||
                      info.bytes != 0) {
                      return 3;
                  }
                  if (add_to_cd_via_copy(root, &range, 1, nullptr) != CD_SUCCESS ||
                      cd_query(root, &info) != CD_SUCCESS || info.unbound != 0) {
                      return 4;
                  }
                  return std::ranges::count(bytes, 'd') == static_cast<ptrdiff_t>(length) ? 0 : 5;
              }));
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
