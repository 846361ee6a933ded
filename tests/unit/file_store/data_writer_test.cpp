// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/data_writer.h"

#include "../replaced_system.h"
#include "file_store/format.h"
#include "memory/crc32c.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cd {
namespace {

// A disk whose files cannot be mapped into memory.
class Disk : public ReplacedSystem {
public:
    int writes = 0;
    off_t begun = 0; // bytes

    void *map_file(int, size_t) override { return nullptr; }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        ++writes;
        return System::write_at(fd, from, length, offset);
    }
    int begin_sync(int, off_t, off_t length) override {
        begun += length;
        return 0;
    }
};

class WriterTest : public testing::Test {
protected:
    static constexpr size_t mib = size_t{1} << 20;

    void SetUp() override {
        std::string path = (std::filesystem::temp_directory_path() / "cd-writer-XXXXXX").string();
        const int fd = ::mkostemp(path.data(), O_CLOEXEC);
        ASSERT_GE(fd, 0);
        ::unlink(path.c_str());
        volume.emplace(File(fd, path), 0);
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 11 + i / 256 + 1);
        }
    }

    // Extents one behind the other.
    std::vector<Extent> reserve(size_t count, size_t length) {
        std::vector<Extent> extents(count);
        Extent all;
        EXPECT_TRUE(volume->reserve(count * Space::rounded(length), all).is_ok());
        volume->release(all);
        for (Extent &extent : extents) {
            EXPECT_TRUE(volume->reserve(length, extent).is_ok());
        }
        return extents;
    }

    // Returns the bytes of one extent, which differ from those of the others.
    const std::byte *bytes_for(size_t index) const { return &bytes[index * 7]; }

    void write(DataWriter &writer, const Extent &extent, size_t index, size_t length) {
        ASSERT_TRUE(writer.write(extent.offset, bytes_for(index), length, checksums).is_ok());
        EXPECT_EQ(checksums.front(),
                  crc32c(0, bytes_for(index), std::min(length, format::checked_part)));
    }

    // Writes every `step`th extent in one operation, with the bytes for its index + `shift`.
    void write_all(const std::vector<Extent> &extents, size_t length, size_t step = 1,
                   size_t shift = 0) {
        DataWriter writer(*volume, true, true);
        for (size_t i = 0; i < extents.size(); i += step) {
            write(writer, extents[i], i + shift, length);
        }
        ASSERT_TRUE(writer.flush().is_ok());
    }

    bool holds(const Extent &extent, size_t index, size_t length) {
        std::vector<std::byte> read(length);
        EXPECT_TRUE(volume->file().read(extent.offset, read.data(), length).is_ok());
        return std::equal(read.begin(), read.end(), bytes_for(index));
    }

    Disk system;
    std::optional<Volume> volume;
    std::vector<std::byte> bytes = std::vector<std::byte>(mib);
    Checksums checksums;
};

TEST_F(WriterTest, NeighboursAreWrittenAtOnceWhateverRoomIsLeftBetweenThem) {
    constexpr size_t count = 20;
    for (const size_t length : {size_t{8}, size_t{100}, size_t{5000}}) {
        const std::vector<Extent> extents = reserve(count, length);
        system.writes = 0;
        write_all(extents, length);
        EXPECT_EQ(system.writes, 1) << length;
        for (size_t i = 0; i < count; ++i) {
            EXPECT_TRUE(holds(extents[i], i, length)) << length << ", extent " << i;
        }
    }
}

TEST_F(WriterTest, WhatIsLongerThanTheBufferIsWrittenWithItsNeighbours) {
    constexpr size_t length = 300'001;
    const std::vector<Extent> extents = reserve(3, length);
    write_all(extents, length);
    for (size_t i = 0; i < extents.size(); ++i) {
        EXPECT_TRUE(holds(extents[i], i, length)) << i;
    }
}

TEST_F(WriterTest, WhatLiesBetweenIsLeftAlone) {
    constexpr size_t length = 5000;
    const std::vector<Extent> extents = reserve(10, length);
    write_all(extents, length);
    write_all(extents, length, 2, 100);
    for (size_t i = 0; i < extents.size(); ++i) {
        EXPECT_TRUE(holds(extents[i], i % 2 == 0 ? i + 100 : i, length)) << i;
    }
}

TEST_F(WriterTest, TheDiskBeginsEarlyWhereOtherThingsLieInBetween) {
    constexpr size_t length = 100'000;
    const std::vector<Extent> extents = reserve(200, length);
    DataWriter writer(*volume, true, true);
    for (size_t i = 0; i < extents.size(); i += 2) {
        write(writer, extents[i], i, length);
    }
    EXPECT_GE(system.begun, off_t{8 * mib});
}

TEST_F(WriterTest, TheDiskDoesNotBeginWithWhatIsNotForced) {
    const std::vector<Extent> extents = reserve(20, mib);
    DataWriter writer(*volume, true, false);
    for (const Extent &extent : extents) {
        write(writer, extent, 0, mib);
    }
    EXPECT_EQ(system.begun, 0);
}

class CountedWrites : public ReplacedSystem {
public:
    int writes = 0;
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        ++writes;
        return System::write_at(fd, from, length, offset);
    }
};

class InPlace : public testing::Test {
protected:
    void SetUp() override {
        std::string path = "/dev/shm/cd-in-place-XXXXXX";
        const int fd = ::mkostemp(path.data(), O_CLOEXEC);
        if (fd < 0 || os::system().map_file(fd, format::block) == nullptr) {
            GTEST_SKIP() << "needs /dev/shm in memory";
        }
        ::unlink(path.c_str());
        volume.emplace(File(fd, path), 0);
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 11 + i / 256);
        }
    }

    Status write(size_t length, DataWriter &writer) {
        if (Status status = volume->reserve(length, extent); !status) {
            return status;
        }
        Status status = writer.write(extent.offset, bytes.data(), length, checksums);
        return status ? writer.flush() : status;
    }

    std::vector<std::byte> in_file(size_t length) {
        std::vector<std::byte> read(length);
        EXPECT_TRUE(volume->file().read(extent.offset, read.data(), length).is_ok());
        return read;
    }

    CountedWrites system;
    std::optional<Volume> volume;
    std::vector<std::byte> bytes = std::vector<std::byte>(200'000);
    Extent extent;
    Checksums checksums;
};

TEST_F(InPlace, DataInMemoryFilesTakeNoSystemCallAndHaveTheirChecksums) {
    DataWriter writer(*volume, true, true);
    for (const size_t length : {size_t{1}, format::checked_part, bytes.size()}) {
        ASSERT_TRUE(write(length, writer).is_ok());
        const std::vector<std::byte> read = in_file(length);
        EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin())) << length;
        for (size_t part = 0; part < checksums.size(); ++part) {
            const size_t begin = part * format::checked_part;
            EXPECT_EQ(checksums[part],
                      crc32c(0, &bytes[begin], std::min(format::checked_part, length - begin)));
        }
        EXPECT_EQ(checksums.size(), (length + format::checked_part - 1) / format::checked_part);
    }
    EXPECT_EQ(system.writes, 0);
}

TEST_F(InPlace, AFileThatWasCutIsAnErrorAndNotTheEndOfTheProcess) {
    Extent before;
    ASSERT_TRUE(volume->reserve(bytes.size(), before).is_ok());
    ASSERT_EQ(::ftruncate(volume->file().descriptor(), format::block), 0);
    DataWriter writer(*volume, true, true);
    const Status status = writer.write(before.offset, bytes.data(), bytes.size(), checksums);
    EXPECT_EQ(status.code(), CD_ERROR_STORE_DAMAGED);
    EXPECT_NE(std::string(message()).find("truncated"), std::string::npos);
}

} // namespace
} // namespace cd
