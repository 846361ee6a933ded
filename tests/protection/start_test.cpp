// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The state that a root with redundancy starts from, and the fate of its local store.

#include "fake_protector.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace {

constexpr int no_restart = 1000 % 256;

class Start : public Protected {
protected:
    static std::string read(const std::filesystem::path &path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    // A process that makes points in time of these values, and ends without a commit.
    void live(std::string_view values) {
        EXPECT_EQ(0, in_process([&] {
                      root = create();
                      if (root == nullptr) {
                          return 1;
                      }
                      for (const char value : values) {
                          advance_with(value);
                      }
                      add();
                      return testing::Test::HasFailure() ? 2 : 0;
                  }))
            << values;
    }

    // The value that a process finds, or its error's code; no_restart if it begins.
    int found() {
        return in_process([&] {
            root = create();
            if (root == nullptr) {
                return static_cast<int>(cd_last_error());
            }
            if (info().restarted == 0) {
                return no_restart;
            }
            fill('-');
            add();
            if (restore_cd(root) != CD_SUCCESS) {
                return static_cast<int>(cd_last_error());
            }
            const auto same = [&](char byte) { return byte == memory.front(); };
            return std::ranges::all_of(memory, same) && info().epoch == info().protected_epoch
                       ? memory.front()
                       : 1;
        });
    }

    std::filesystem::path store() const { return local / "0-root.cds"; }
    std::filesystem::path aside() const { return local / "0-root.cds.old"; }
};

TEST_F(Start, IsTheImageWhereTheLocalStoreIsGone) {
    live("abc");
    std::filesystem::remove_all(local);
    EXPECT_EQ(found(), 'c');
    std::filesystem::remove_all(local);
    live("d");
    EXPECT_EQ(found(), 'd');
}

TEST_F(Start, IsTheImageWhereTheLocalStoreIsAheadAndThatStaysAsideUntilTheNextAdvance) {
    live("ab");
    protector.protect_fails = CD_ERROR_STORE_FULL;
    live("c");
    protector.protect_fails = CD_ERROR_NONE;
    const std::string ahead = read(store());
    EXPECT_EQ(found(), 'b');
    EXPECT_EQ(read(aside()), ahead);
    EXPECT_EQ(found(), 'b');
    EXPECT_EQ(read(aside()), ahead); // of the two the one that has more
    live("d");
    EXPECT_FALSE(std::filesystem::exists(aside()));
    EXPECT_EQ(found(), 'd');
}

TEST_F(Start, WhatWasAddedAfterTheLastAdvanceIsNotThere) {
    EXPECT_EQ(0, in_process([&] {
                  root = create();
                  advance_with('a');
                  static int more = 7;
                  const cd_addrspec range = {&more, sizeof more, CD_READ_WRITE, CD_GLOBAL};
                  return add_to_cd_via_copy(root, &range, 1, nullptr);
              }));
    EXPECT_EQ(0, in_process([&] {
                  root = create();
                  const cd_info found = info();
                  return found.bytes + found.unbound == memory.size() ? 0 : 1;
              }));
}

TEST_F(Start, IsNothingWhereTheProtectorHasNone) {
    live("ab");
    const std::string old = read(store());
    std::filesystem::remove_all(protector.images);
    EXPECT_EQ(found(), no_restart);
    EXPECT_EQ(read(aside()), old);
    EXPECT_EQ(found(), no_restart);
    EXPECT_EQ(read(aside()), old);
    live("c");
    EXPECT_FALSE(std::filesystem::exists(aside()));
    EXPECT_EQ(found(), 'c');
}

TEST_F(Start, IsNothingWithCdRestartNo) {
    live("ab");
    ::setenv("CD_RESTART", "no", 1);
    EXPECT_EQ(found(), no_restart);
    ::unsetenv("CD_RESTART");
    EXPECT_EQ(found(), 'b');
}

// ---- Images that cannot be taken -----------------------------------------------------------

class BadStart : public Start {
protected:
    void SetUp() override {
        Start::SetUp();
        live("ab");
        local_ = read(store());
    }

    // The creation fails, and has changed nothing.
    void expect_refused(cd_error code) {
        EXPECT_EQ(found(), code);
        EXPECT_EQ(read(store()), local_);
        EXPECT_EQ(files(), std::vector<std::string>{"0-root.cds"});
    }

    void write(std::string bytes) const {
        std::ofstream(protector.image(2), std::ios::binary) << bytes;
    }

    std::string local_;
};

TEST_F(BadStart, ImageIsNotThere) {
    protector.restarts = false;
    protector.start.epoch = 2;
    std::strcpy(protector.start.image, (scratch / "nowhere").c_str());
    expect_refused(CD_ERROR_STORE_IO);
}

TEST_F(BadStart, ImageIsALink) {
    std::filesystem::rename(protector.image(2), scratch / "elsewhere");
    std::filesystem::create_symlink(scratch / "elsewhere", protector.image(2));
    expect_refused(CD_ERROR_STORE_IO);
}

TEST_F(BadStart, ImageIsDamaged) {
    const std::string whole = read(protector.image(2));
    std::string data = whole;
    data[data.find(std::string(memory.size(), 'b')) + 100'000] ^= 1;
    write(data);
    expect_refused(CD_ERROR_CHECKSUM);
    for (const size_t left : {whole.size() - 1, whole.size() / 2, size_t{100}, size_t{0}}) {
        write(whole.substr(0, left));
        expect_refused(CD_ERROR_STORE_DAMAGED);
    }
    write(whole);
    EXPECT_EQ(found(), 'b');
}

TEST_F(BadStart, ImageIsOfAnotherEpoch) {
    std::filesystem::copy_file(protector.image(1), protector.image(3));
    expect_refused(CD_ERROR_STORE_DAMAGED);
}

TEST_F(BadStart, ImageIsOfAnotherRoot) {
    // Headers have a checksum, so this one has to be made by a root of its own.
    EXPECT_EQ(0, in_process([&] {
                  protector.restarts = false;
                  protector.images = scratch / "others";
                  root = create_cd(nullptr,
                                   ("store=file,redundancy=xor,dir=" + scratch.string()).c_str(),
                                   CD_COMM_LOGGING_DISABLED, "other", nullptr);
                  advance_with('x');
                  advance_with('y');
                  return testing::Test::HasFailure() ? 1 : 0;
              }));
    write(read(scratch / "others" / "2"));
    expect_refused(CD_ERROR_STORE_DAMAGED);
}

} // namespace
