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
#include <optional>
#include <string>
#include <vector>

namespace cd {
namespace {

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
