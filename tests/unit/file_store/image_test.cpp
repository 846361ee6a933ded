// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Images of points in time: what is in them, and what is not.

#include "failing_calls.h"
#include "held_root.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

namespace cd {
namespace {

constexpr size_t part = format::checked_part;

class Image : public HeldRoot {
protected:
    // Points in time with entries of all kinds, larger and smaller than what has a checksum, split
    // where others were added and deleted.
    void fill() {
        std::iota(large_.begin(), large_.end(), char{1});
        small_.fill('s');
        add(large_.data(), large_.size(), CD_READ_ONLY);
        add(small_.data(), 100);
        add(small_.data() + 200, 3000);
        add(in_program.data(), in_program.size());
        const cd_addrspec regenerated = {small_.data() + 5000, 50, CD_READ_ONLY, CD_GLOBAL};
        const cd_regen_fn regen = [](cd_addrspec *, int) { return 0; };
        ASSERT_EQ(add_to_cd_via_regen(root_, &regenerated, 1, nullptr, regen), CD_SUCCESS);
        ASSERT_EQ(add_file_to_cd(root_, ::fileno(file_)), CD_SUCCESS);
        advance();
        const cd_handle child =
            create_cd(root_, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
        const cd_addrspec of_child = {small_.data() + 6000, 77, CD_READ_WRITE, CD_GLOBAL};
        ASSERT_EQ(add_to_cd_via_copy(child, &of_child, 1, nullptr), CD_SUCCESS);
        ASSERT_EQ(commit_cd(child), CD_SUCCESS);
        add(large_.data() + 10, 20);
        add(large_.data() + 5 * part, 3 * part + 1);
        std::fill(large_.begin() + 5 * part, large_.begin() + 6 * part, 'x');
        const cd_addrspec gone = {large_.data() + 2 * part + 7, 2 * part, CD_READ_ONLY, CD_GLOBAL};
        ASSERT_EQ(delete_from_cd(root_, &gone, 1), CD_SUCCESS);
        ASSERT_EQ(std::fseek(file_, 4, SEEK_SET), 0);
        advance();
    }

    void TearDown() override {
        HeldRoot::TearDown();
        std::fclose(file_);
    }

    static inline std::array<char, 70'000> in_program = {};
    std::vector<char> large_ = std::vector<char>(20 * part + 123);
    std::array<char, 8000> small_ = {};
    std::FILE *file_ = std::tmpfile();
};

TEST_F(Image, HoldsThePointInTimeAndNothingElse) {
    begin(",keep=3");
    fill();
    const std::string point = described(store());
    ASSERT_TRUE(hold()->write_image(image())) << message();
    EXPECT_EQ(described(image()), point);
    const Loaded found = loaded(image());
    EXPECT_EQ(found.header.generation, 1U);
    EXPECT_TRUE(found.header.names_all_objects);
    EXPECT_EQ(found.state.cds.size(), 1U);
    EXPECT_TRUE(found.state.versions.empty());
    EXPECT_EQ(found.state.names.size(), 3U); // the root's path, the child's, the program
    cd_info info;
    ASSERT_EQ(cd_query(root_, &info), CD_SUCCESS);
    // Runs begin with blocks, and parts of which some bytes were deleted are there as a whole.
    EXPECT_LT(std::filesystem::file_size(image()), info.bytes + 2 * part + 16 * format::block);
}

TEST_F(Image, OfNothingIsAStore) {
    begin();
    advance();
    const std::string point = described(store());
    ASSERT_TRUE(hold()->write_image(image())) << message();
    EXPECT_EQ(described(image()), point);
    EXPECT_EQ(std::filesystem::file_size(image()), 4 * format::block);
}

TEST_F(Image, OfManySmallEntriesIsDense) {
    begin(",sync=none");
    std::vector<char> bytes(200'000);
    std::iota(bytes.begin(), bytes.end(), char{0});
    for (size_t at = 0; at + 64 <= bytes.size(); at += 65) {
        add(bytes.data() + at, 64);
    }
    advance();
    const std::string point = described(store());
    ASSERT_TRUE(hold()->write_image(image())) << message();
    EXPECT_EQ(described(image()), point);
    EXPECT_LT(std::filesystem::file_size(image()), 2 * bytes.size());
}

TEST_F(Image, IsAStoreThatOtherProcessesGoOnWith) {
    begin();
    std::ranges::fill(large_, 'a');
    small_.fill('s');
    add(large_.data(), large_.size());
    add(small_.data(), small_.size());
    advance();
    ASSERT_TRUE(hold()->write_image(image())) << message();
    ASSERT_EQ(commit_cd(root_), CD_SUCCESS);
    root_ = nullptr;
    std::filesystem::rename(image(), store());
    for (char life = 'b'; life <= 'e'; ++life) {
        EXPECT_EQ(0, in_process([&] {
                      std::ranges::fill(large_, '-');
                      small_.fill('-');
                      const cd_handle root = create();
                      const cd_addrspec ranges[] = {
                          {large_.data(), large_.size(), CD_READ_WRITE, CD_GLOBAL},
                          {small_.data(), small_.size(), CD_READ_ONLY, CD_GLOBAL}};
                      if (root == nullptr ||
                          add_to_cd_via_copy(root, ranges, 2, nullptr) != CD_SUCCESS ||
                          restore_cd(root) != CD_SUCCESS) {
                          return static_cast<int>(cd_last_error());
                      }
                      const auto is = [](char value) {
                          return [value](char byte) { return byte == value; };
                      };
                      if (!std::ranges::all_of(large_, is(static_cast<char>(life - 1))) ||
                          !std::ranges::all_of(small_, is('s'))) {
                          return 100;
                      }
                      std::ranges::fill(large_, life);
                      return advance_cd_point_in_time(root) == CD_SUCCESS ? 0 : 101;
                  }))
            << life;
    }
}

TEST_F(Image, ThatFailsAtAnyCallIsNotThere) {
    begin();
    fill();
    const auto held = hold();
    const auto names = files();
    int failures = 0;
    for (int call = 0;; ++call) {
        SCOPED_TRACE(call);
        FailingSystem system;
        system.failing = call;
        clear_message();
        const Status status = held->write_image(image());
        system.failing = -1;
        if (!system.failed) {
            ASSERT_TRUE(status) << message();
            break;
        }
        ++failures;
        ASSERT_TRUE(status.code() == CD_ERROR_STORE_IO || status.code() == CD_ERROR_STORE_FULL);
        ASSERT_STRNE(message(), "");
        ASSERT_EQ(files(), names);
    }
    EXPECT_GT(failures, 25);
}

// Notes writes and syncs in their order; if `full`, the quota is reported by close().
class Closing : public ReplacedSystem {
public:
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        order += 'w';
        return System::write_at(fd, from, length, offset);
    }
    int sync_all(int fd) override {
        order += 's';
        return System::sync_all(fd);
    }
    int close(int fd) override {
        const int result = System::close(fd);
        errno = EDQUOT;
        return full ? -1 : result;
    }
    std::string order;
    bool full = false;
};

TEST_F(Image, IsForcedToTheDiskBehindItsLastByte) {
    begin(",sync=full");
    fill();
    const auto held = hold();
    Closing system;
    ASSERT_TRUE(held->write_image(image())) << message();
    EXPECT_GT(system.order.size(), 4U);
    EXPECT_EQ(system.order.find('s'), system.order.size() - 1) << system.order;
}

TEST_F(Image, WhoseCloseFailsIsNotThere) {
    for (const char *sync : {",sync=full", ",sync=none"}) {
        begin(sync);
        fill();
        const auto held = hold();
        const auto names = files();
        {
            Closing system;
            system.full = true;
            EXPECT_EQ(held->write_image(image()).code(), CD_ERROR_STORE_FULL) << sync;
            EXPECT_NE(std::string(message()).find("close"), std::string::npos) << message();
        }
        EXPECT_EQ(files(), names) << sync;
        ASSERT_TRUE(held->write_image(image())) << message();
        std::filesystem::remove(image());
        ASSERT_EQ(commit_cd(root_), CD_SUCCESS);
        root_ = nullptr;
    }
}

TEST_F(Image, NeverTakesThePlaceOfAFile) {
    begin();
    advance();
    std::ofstream(image()) << "precious";
    EXPECT_EQ(hold()->write_image(image()).code(), CD_ERROR_STORE_IO);
    EXPECT_EQ(std::filesystem::file_size(image()), 8U);
}

// A store whose file changes behind its back.
class DamagedImage : public Image {
protected:
    void flip(uint64_t offset) const {
        std::fstream file(store(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(offset));
        const int byte = file.get();
        file.seekp(static_cast<std::streamoff>(offset));
        file.put(static_cast<char>(byte ^ 4));
    }
};

TEST_F(DamagedImage, IsNotMadeOfDataThatDoNotMatchTheirChecksum) {
    begin();
    fill();
    const auto held = hold();
    const Loaded source = loaded(store());
    int runs = 0;
    for (const auto &[place, entry] : source.state.cds.at(State::root).entries) {
        if (entry.run == nullptr) {
            continue;
        }
        const uint64_t length = entry.end - place.begin;
        for (const uint64_t at : {uint64_t{0}, length / 2, length - 1}) {
            const uint64_t offset = entry.run->offset + entry.run_offset + at;
            flip(offset);
            EXPECT_EQ(held->write_image(image()).code(), CD_ERROR_CHECKSUM) << offset;
            EXPECT_FALSE(std::filesystem::exists(image()));
            flip(offset);
        }
        ++runs;
    }
    EXPECT_GT(runs, 6);
    EXPECT_TRUE(held->write_image(image())) << message();
}

TEST_F(DamagedImage, IsNotMadeOfMetadataThatDoNotMatchTheirChecksum) {
    begin();
    fill();
    const auto held = hold();
    const Superblock header = loaded(store()).header;
    for (const uint64_t offset : {header.snapshot.offset + 2, header.journal.offset + 100}) {
        flip(offset);
        EXPECT_EQ(held->write_image(image()).code(), CD_ERROR_STORE_DAMAGED) << offset;
        EXPECT_FALSE(std::filesystem::exists(image()));
        flip(offset);
    }
    EXPECT_TRUE(held->write_image(image())) << message();
}

} // namespace
} // namespace cd
