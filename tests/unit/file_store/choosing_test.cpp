// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// CD_RESTART after failures, and stores that earlier starts have set aside.

#include "content.h"
#include "os/system.h"
#include "store_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

namespace cd {
namespace {

constexpr size_t size_of_data = 9000;

class ChoosingSystem : public os::System {
public:
    const char *environment(const char *name) override {
        return std::string(name) == "CD_RESTART" ? restart : nullptr;
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        if (reads_left == 0) {
            errno = ENOMEM;
            return -1;
        }
        --reads_left;
        reads_of_data += length == size_of_data;
        return System::read_at(fd, to, length, offset);
    }
    void warn(const char *) override { ++warnings; }

    const char *restart = nullptr;
    int reads_left = 1000;
    int warnings = 0;
    int reads_of_data = 0;
};

class Choosing : public StoreDirectory {
protected:
    // Runs `body` in a process of its own and returns its result.
    template <typename Body> int run(const char *restart, const Body &body) {
        return in_process([&] {
            ChoosingSystem system;
            system.restart = restart;
            os::replace_system(&system);
            return body(system);
        });
    }
    bool add() {
        const cd_addrspec range = {bytes_.data(), bytes_.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(root_, &range, 1, nullptr) == CD_SUCCESS;
    }
    // Starts as CD_RESTART says, and makes a point in time of each value.
    int write(const char *restart, const std::string &values, const char *more = "") {
        return run(restart, [&](ChoosingSystem &) {
            root_ = create(more);
            for (const char value : values) {
                if (root_ == nullptr || !add()) {
                    return 1;
                }
                bytes_.fill(value);
                if (advance_cd_point_in_time(root_) != CD_SUCCESS) {
                    return 2;
                }
            }
            return root_ == nullptr || (values.empty() && !add()) ? 3 : 0;
        });
    }
    int found(const char *restart = nullptr, const char *more = "") {
        return run(restart, [&](ChoosingSystem &) -> int {
            root_ = create(more);
            if (root_ == nullptr) {
                return cd_last_error();
            }
            cd_info info;
            if (cd_query(root_, &info) != CD_SUCCESS || info.restarted == 0) {
                return 0;
            }
            if (!add() || restore_cd(root_) != CD_SUCCESS) {
                return cd_last_error();
            }
            return bytes_[0];
        });
    }

    cd_handle root_ = nullptr;
    std::array<char, size_of_data> bytes_ = {};
};

TEST_F(Choosing, AStoreSetAsideEarlierDoesNotReplaceTheStoreThatAdvanced) {
    ASSERT_EQ(write(nullptr, "ab"), 0);
    std::filesystem::copy(store(), store() + ".old");
    ASSERT_EQ(write(nullptr, "c"), 0);
    std::filesystem::copy(store(), store() + ".newer");
    std::filesystem::remove(store() + ".old");
    std::filesystem::copy(store() + ".newer", store() + ".old"); // its removal did not last
    ASSERT_EQ(write(nullptr, "d"), 0);
    ASSERT_EQ(write("no", ""), 0);
    std::filesystem::rename(store() + ".old", store());
    EXPECT_EQ(found(), 'd');
}

// Otherwise one of the two stores would be removed without a comparison.
TEST_F(Choosing, AStoreThatCannotBeReadNowIsNotReplacedByTheOneSetAside) {
    ASSERT_EQ(write(nullptr, "ab"), 0);
    std::filesystem::copy(store(), store() + ".saved");
    ASSERT_EQ(write(nullptr, "d"), 0);
    std::filesystem::rename(store() + ".saved", store() + ".old");
    const auto begin_afresh = [&](int reads) {
        return run("no", [&](ChoosingSystem &system) {
            system.reads_left = reads;
            root_ = create();
            return root_ != nullptr ? 0 : cd_last_error() == CD_ERROR_STORE_IO ? 1 : 2;
        });
    };
    int reads = 0;
    for (; begin_afresh(reads) == 1; ++reads) {
        ASSERT_EQ(found(), 'd') << reads;
    }
    EXPECT_GT(reads, 2);
    EXPECT_EQ(begin_afresh(reads), 0);
}

TEST_F(Choosing, AnOlderPointInTimeThatIsDamagedIsRefusedAndNothingIsGivenUp) {
    ASSERT_EQ(write(nullptr, "abc", ",keep=2"), 0);
    std::string bytes = scratch::content(store());
    const size_t at = bytes.find(std::string(bytes_.size(), 'b'));
    ASSERT_NE(at, std::string::npos);
    bytes[at] ^= 1;
    std::ofstream(store(), std::ios::binary) << bytes;
    EXPECT_EQ(found("2", ",keep=2"), CD_ERROR_CHECKSUM);
    EXPECT_EQ(found(nullptr, ",keep=2"), 'c');
}

// A start may end because another rank failed, before anything has changed.
TEST_F(Choosing, AnEpochGivesUpWhatIsNewerWithTheFirstChangeOnly) {
    ASSERT_EQ(write(nullptr, "abcd", ",keep=3"), 0);
    EXPECT_EQ(found("2", ",keep=3"), 'b');
    EXPECT_EQ(found("3", ",keep=3"), 'c');
    EXPECT_EQ(found(nullptr, ",keep=3"), 'd');
    ASSERT_EQ(write("3", "e", ",keep=3"), 0);
    EXPECT_EQ(found(nullptr, ",keep=3"), 'e');
    EXPECT_EQ(found("4", ",keep=3"), 'e');
    EXPECT_EQ(found("3", ",keep=3"), 'c');
    EXPECT_EQ(found("2", ",keep=3"), 'b');
}

// The file need not grow after that.
TEST_F(Choosing, SpaceOfDiscardedPointsInTimeIsReused) {
    constexpr size_t length = size_t{3} << 20;
    std::vector<char> long_bytes(length);
    const cd_addrspec range = {long_bytes.data(), length, CD_READ_WRITE, CD_GLOBAL};
    const auto go_on = [&](const char *restart, int times) {
        return run(restart, [&](ChoosingSystem &) {
            root_ = create(",keep=2");
            for (int i = 0; i < times; ++i) {
                if (add_to_cd_via_copy(root_, &range, 1, nullptr) != CD_SUCCESS ||
                    (i == 0 && restart != nullptr && restore_cd(root_) != CD_SUCCESS) ||
                    advance_cd_point_in_time(root_) != CD_SUCCESS) {
                    return 1;
                }
            }
            return 0;
        });
    };
    ASSERT_EQ(go_on(nullptr, 4), 0);
    ASSERT_EQ(go_on("3", 2), 0);
    const uintmax_t size = std::filesystem::file_size(store());
    for (const char *epoch : {"4", "5", "6"}) {
        ASSERT_EQ(go_on(epoch, 2), 0) << epoch;
        EXPECT_EQ(std::filesystem::file_size(store()), size) << epoch;
    }
}

// The range is unbound when the point in time becomes an older one, and is deleted later.
TEST_F(Choosing, AnOlderPointInTimeKeepsUnboundRanges) {
    constexpr size_t length = 100'000;
    const char *keep = ",keep=3";
    std::vector<char> unbound(length, 'u');
    std::vector<std::vector<char>> others(10, std::vector<char>(length, 'o'));
    const auto range_of = [](std::vector<char> &bytes) {
        return cd_addrspec{bytes.data(), bytes.size(), CD_READ_ONLY, CD_GLOBAL};
    };
    const auto add_range = [&](std::vector<char> &bytes) {
        const cd_addrspec range = range_of(bytes);
        return add_to_cd_via_copy(root_, &range, 1, nullptr) == CD_SUCCESS;
    };
    const auto advances = [&] { return advance_cd_point_in_time(root_) == CD_SUCCESS; };
    ASSERT_EQ(0, run(nullptr, [&](ChoosingSystem &) {
                  root_ = create(keep);
                  return add() && add_range(unbound) && advances() ? 0 : 1;
              }));
    ASSERT_EQ(0, run(nullptr, [&](ChoosingSystem &) {
                  root_ = create(keep);
                  if (!add() || !advances() || !advances() || !advances() || !add_range(unbound)) {
                      return 1;
                  }
                  const cd_addrspec range = range_of(unbound);
                  const bool deleted = delete_from_cd(root_, &range, 1) == CD_SUCCESS;
                  return deleted && std::ranges::all_of(others, add_range) && advances() ? 0 : 2;
              }));
    EXPECT_EQ(0, run("3", [&](ChoosingSystem &) -> int {
                  root_ = create(keep);
                  unbound.assign(length, '-');
                  if (root_ == nullptr || !add() || !add_range(unbound) ||
                      restore_cd(root_) != CD_SUCCESS) {
                      return cd_last_error();
                  }
                  return unbound == std::vector<char>(length, 'u') ? 0 : 100;
              }));
}

// docs/reference/storage-info.md says what keep=N costs.
TEST_F(Choosing, DataAreReadOnlyWhereAnOlderPointInTimeCouldBeTakenInstead) {
    const auto reads_when_opened = [&](const char *restart, const char *keep) {
        return run(restart, [&](ChoosingSystem &system) {
            root_ = create(keep);
            return root_ == nullptr ? 100 : system.reads_of_data;
        });
    };
    ASSERT_EQ(write(nullptr, "ab"), 0);
    EXPECT_EQ(reads_when_opened(nullptr, ""), 0);
    ASSERT_EQ(write(nullptr, "cd", ",keep=2"), 0);
    EXPECT_EQ(reads_when_opened(nullptr, ",keep=2"), 1);
    EXPECT_EQ(reads_when_opened("4", ",keep=2"), 1);
    EXPECT_EQ(reads_when_opened("3", ",keep=2"), 1);
}

// A process was killed when the new store had its name, and still the one that it was made under.
TEST_F(Choosing, AStoreThatAlsoHasTheNameOfAnUnfinishedOneIsOpened) {
    ASSERT_EQ(write(nullptr, "ab"), 0);
    const std::filesystem::path named = store();
    const auto unfinished = named.parent_path() / ("." + named.filename().string() + ".new");
    for (const char *restart : {"no", static_cast<const char *>(nullptr)}) {
        std::filesystem::create_hard_link(named, unfinished);
        ASSERT_EQ(write(restart, "c"), 0);
        EXPECT_FALSE(std::filesystem::exists(unfinished));
        EXPECT_EQ(found(), 'c');
    }
}

// A process was killed when the old store had two names, and the new one none.
TEST_F(Choosing, AStoreThatIsItselfSetAsideContinuesWithoutAWarning) {
    ASSERT_EQ(write(nullptr, "ab"), 0);
    std::filesystem::create_hard_link(store(), store() + ".old");
    EXPECT_EQ(0, run(nullptr, [&](ChoosingSystem &system) {
                  root_ = create();
                  return root_ == nullptr ? 100 : system.warnings;
              }));
    EXPECT_EQ(found(), 'b');
    ASSERT_EQ(write(nullptr, "c"), 0);
    EXPECT_FALSE(std::filesystem::exists(store() + ".old"));
    EXPECT_EQ(found(), 'c');
    std::filesystem::copy(store(), store() + ".old"); // another file
    EXPECT_EQ(1, run(nullptr, [&](ChoosingSystem &system) {
                  root_ = create();
                  return root_ == nullptr ? 100 : system.warnings;
              }));
}

TEST_F(Choosing, AnEpochOfAMissingStoreIsAWarning) {
    EXPECT_EQ(1, run("5", [&](ChoosingSystem &system) {
                  root_ = create();
                  return root_ == nullptr ? 100 : system.warnings;
              }));
}

} // namespace
} // namespace cd
