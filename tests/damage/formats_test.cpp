// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A store that the first library of this format wrote: it is read, and written byte for byte.
#include "specimen.h"

#include "cd/cd.h"
#include "file_store/format.h"
#include "file_store/record.h"
#include "file_store/superblock.h"
#include "memory/crc32c.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace damage {
namespace {

namespace fs = std::filesystem;

// Writes the file that packed describes (README.md).
void unpack(const std::string &packed, const std::string &path) {
    std::ifstream from(packed, std::ios::binary);
    std::ofstream file(path, std::ios::binary);
    uint64_t word = 0;
    uint64_t pair[2]; // how much a word is greater than the one before, and how many are
    while (from.read(reinterpret_cast<char *>(pair), sizeof pair)) {
        for (; pair[1] > 0; --pair[1]) {
            word += pair[0];
            file.write(reinterpret_cast<const char *>(&word), sizeof word);
        }
    }
}

bool is_all(const std::vector<char> &bytes, char value) {
    return std::ranges::all_of(bytes, [value](char byte) { return byte == value; });
}

// The data that store_of_format.c keeps in its root and adds in its children.
class Successor {
public:
    explicit Successor(const std::string &directory)
        : root_(create_cd(nullptr, ("store=file,sync=none,keep=2,dir=" + directory).c_str(),
                          CD_COMM_LOGGING_DISABLED, "alpha", nullptr)) {}

    bool restore() {
        return root_ != nullptr &&
               cd_name_region("field", field_.data(), field_.size()) == CD_SUCCESS && add_all() &&
               restore_cd(root_) == CD_SUCCESS;
    }
    bool advance_to(char step) {
        std::ranges::fill(field_, step);
        std::ranges::fill(changing_, step);
        return add_all() && advance_cd_point_in_time(root_) == CD_SUCCESS;
    }
    bool is_at(char step) const {
        return is_all(field_, step) && is_all(changing_, step) && is_all(constant_, 'c');
    }

    // The data that the committed child of the root adds.
    bool add_to_child(int number, std::vector<char> &changed, std::vector<char> &kept) {
        for (; children_ < number; ++children_) {
            commit_cd(begin_child());
        }
        ++children_;
        cd_handle child = begin_child();
        return add(child, changed, CD_READ_WRITE) && add(child, kept, CD_READ_ONLY) &&
               commit_cd(child) == CD_SUCCESS;
    }

    size_t unbound() const {
        cd_info info = {};
        cd_query(root_, &info);
        return info.unbound;
    }
    std::string state() const {
        std::string error = std::to_string(cd_last_error()) + " " + cd_last_error_message();
        return error + "; field " + std::to_string(field_[0]) + ", unbound " +
               std::to_string(unbound());
    }

private:
    static bool add(cd_handle cd, std::vector<char> &range, addr_type access) {
        const cd_addrspec list = {range.data(), range.size(), access, CD_GLOBAL};
        return add_to_cd_via_copy(cd, &list, 1, nullptr) == CD_SUCCESS;
    }
    bool add_all() {
        return add(root_, field_, CD_READ_WRITE) && add(root_, constant_, CD_READ_ONLY) &&
               add(root_, changing_, CD_READ_WRITE);
    }
    cd_handle begin_child() {
        return create_cd(root_, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    }

    cd_handle root_;
    std::vector<char> field_ = std::vector<char>(70'000);
    std::vector<char> constant_ = std::vector<char>(3000);
    std::vector<char> changing_ = std::vector<char>(5000);
    int children_ = 0;
};

class Format : public testing::Test {
protected:
    void SetUp() override {
        fs::create_directory(directory_.path("s"));
        fs::permissions(directory_.path("s"), fs::perms::owner_all);
        unpack(STORE_OF_FORMAT_7, store());
        ASSERT_EQ(fs::file_size(store()), 2105344);
        ASSERT_EQ(versions(), (std::multiset<int>{7, 7}));
    }

    std::string store() const { return directory_.path("s/0-alpha.cds"); }

    // Returns the format versions of both headers.
    std::multiset<int> versions() const {
        std::multiset<int> found;
        std::ifstream file(store(), std::ios::binary);
        for (size_t header = 0; header < cd::format::headers; ++header) {
            file.seekg(static_cast<std::streamoff>(header * cd::format::block + 8));
            found.insert(file.get());
        }
        return found;
    }

    // A process that goes on with the store, and whether it finds what it should. restart: for
    // CD_RESTART.
    template <typename Body> void run(const Body &body, const char *restart = "yes") const {
        EXPECT_EQ(in_process([&]() -> std::string {
                      ::setenv("CD_RESTART", restart, 1);
                      Successor process(directory_.path("s"));
                      return body(process) ? "" : process.state();
                  }),
                  "");
    }

    static constexpr char newest = 3;
    static constexpr int killed_first = 0; // children of the root
    static constexpr int killed_later = 25;
    static constexpr size_t of_program = 100; // or library, that is not there any more

    Directory directory_;
};

TEST_F(Format, IsReadAndWhatIsWrittenIsOfThisOne) {
    run([&](Successor &now) { return now.restore() && now.is_at(newest); });
    EXPECT_EQ(versions(), (std::multiset<int>{cd::format::version, cd::format::version}));
    run([&](Successor &now) { return now.restore() && now.is_at(newest); });
}

TEST_F(Format, HasOlderPointsInTime) {
    run([&](Successor &now) { return now.restore() && now.is_at(newest - 1); }, "2");
}

TEST_F(Format, WhatChildrenOfKilledProcessesHeldWithOtherLengthsDoesNotHoldUpTheRoot) {
    run([&](Successor &now) {
        std::vector<char> changed(1001);
        std::vector<char> kept(501);
        return now.restore() && now.add_to_child(killed_first, changed, kept) &&
               now.add_to_child(killed_later, changed, kept) && is_all(changed, 0) &&
               now.unbound() == of_program && now.advance_to(4);
    });
    run([&](Successor &now) { return now.restore() && now.is_at(4); });
}

// ---- Byte for byte ----

class ThisFormat : public testing::Test {
protected:
    void SetUp() override {
        const std::string path = directory_.path("store");
        unpack(STORE_OF_FORMAT_7, path);
        file_ = cd::File(::open(path.c_str(), O_RDONLY), path);
        ASSERT_TRUE(cd::load(file_, loaded_)) << cd::message();
    }

    static std::string bytes_of(const cd::File &file, uint64_t offset, size_t length) {
        std::string bytes(length, 0);
        EXPECT_TRUE(file.read(offset, bytes.data(), length)) << cd::message();
        return bytes;
    }

    Directory directory_;
    cd::File file_;
    cd::Loaded loaded_;
};

TEST_F(ThisFormat, HasHeadersAsTheyAreWritten) {
    constexpr size_t block = cd::format::block;
    for (size_t slot = 0; slot < cd::format::headers; ++slot) {
        cd::FoundHeader found;
        ASSERT_TRUE(cd::read_header(file_, slot, found));
        const cd::File written(::memfd_create("header", 0), "header");
        ASSERT_TRUE(cd::write_header(written, found.header));
        EXPECT_EQ(bytes_of(written, slot * block, block), bytes_of(file_, slot * block, block));
    }
}

TEST_F(ThisFormat, HasASnapshotAsItIsWritten) {
    const cd::Superblock &header = loaded_.header;
    cd::State state;
    ASSERT_TRUE(cd::load_again(file_, header, 0, state)) << cd::message();
    // Without the two entries that the library of then left to a parent. That one writes the same.
    const std::string text = text_of(state);
    EXPECT_EQ(text.size(), 426U);
    EXPECT_EQ(cd::crc32c(0, text.data(), text.size()), 0x4dcee784U);
}

TEST_F(ThisFormat, HasPositionsOfFilesWithTheirBirths) {
    const auto &files = loaded_.state.cds.at(cd::State::root).files;
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].position, 42);
    EXPECT_EQ(files[0].inode, 11075654U);
    EXPECT_EQ(files[0].born / 1'000'000'000, 1795752410);
}

TEST_F(ThisFormat, HasRecordsAsTheyAreWritten) {
    const cd::Superblock &header = loaded_.header;
    const std::string journal = bytes_of(file_, header.journal.offset, header.journal.length);
    const auto bytes = std::as_bytes(std::span(journal));
    ASSERT_GT(loaded_.records, 1U);
    size_t at = 0;
    for (uint64_t number = 0; number < loaded_.records; ++number) {
        const cd::FoundRecord found = cd::find_record(header, number, bytes, at);
        ASSERT_EQ(found.kind, cd::FoundRecord::Kind::whole);
        const cd::ByteWriter written = cd::encode_record(header, number, found.changes);
        EXPECT_TRUE(std::ranges::equal(written.bytes(), bytes.subspan(at, found.size))) << number;
        at += found.size;
    }
}

} // namespace
} // namespace damage
