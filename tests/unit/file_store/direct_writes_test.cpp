// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Large data that go past the page cache.

#include "file_store/data_writer.h"

#include "../replaced_system.h"
#include "file_store/file_store.h"
#include "file_store/format.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"
#include "runtime/family_lock.h"
#include "store_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd {
namespace {

constexpr size_t direct_mib = size_t{1} << 20;

// A disk that can be written past the page cache: it takes whole blocks only, from whole pages. Its
// writes happen wherever the temporary files are.
class DirectDisk : public ReplacedSystem {
public:
    void *map_file(int, size_t) override { return nullptr; }
    int begin_sync(int, off_t, off_t) override { return 0; }

    int open_direct(int fd, uint64_t &pays_from) override {
        pays_from = direct_mib;
        return direct = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        if (fd != direct) {
            buffered += length;
            errno = EIO;
            return cache_fails ? -1 : System::write_at(fd, from, length, offset);
        }
        ::usleep(delay);
        const auto borders =
            reinterpret_cast<uintptr_t>(from) | length | static_cast<size_t>(offset);
        whole_blocks = whole_blocks && borders % format::block == 0;
        if (failing_from >= 0 &&
            past_cache.fetch_add(length) >= static_cast<size_t>(failing_from)) {
            errno = error;
            return -1;
        }
        past_cache += failing_from < 0 ? length : 0;
        return System::write_at(fd, from, std::min(length, longest), offset);
    }
    int start_thread(pthread_t &thread, void *(*work)(void *), void *context) override {
        return threads-- > 0 ? System::start_thread(thread, work, context) : EAGAIN;
    }
    void join_thread(pthread_t thread) override {
        System::join_thread(thread);
        ++joined;
    }

    int direct = -1;
    std::atomic<size_t> buffered = 0; // bytes
    std::atomic<size_t> past_cache = 0;
    std::atomic<bool> whole_blocks = true;
    bool cache_fails = false;
    useconds_t delay = 0; // of what goes past it
    int threads = 100;    // that can still be started
    int joined = 0;
    off_t failing_from = -1; // with error, once so many bytes went this way
    int error = 0;
    size_t longest = SIZE_MAX; // of what a call writes
};

class DirectTest : public testing::Test {
protected:
    void SetUp() override {
        std::string path = (std::filesystem::temp_directory_path() / "cd-direct-XXXXXX").string();
        const int fd = ::mkostemp(path.data(), O_CLOEXEC);
        ASSERT_GE(fd, 0);
        ::unlink(path.c_str());
        volume.emplace(File(fd, path), 0);
        volume->write_past_cache();
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i * 11 + i / 256 + 1);
        }
    }

    struct Written {
        Extent extent;
        size_t length = 0;
        Checksums checksums;
    };

    // The first length bytes.
    Status write(DataWriter &writer, size_t length) {
        Written &one = written.emplace_back();
        one.length = length;
        EXPECT_TRUE(volume->reserve(length, one.extent).is_ok());
        return writer.write(one.extent.offset, bytes.data(), length, one.checksums);
    }

    // Writes these lengths one after the other, and expects that all of them are in the file.
    void write_all(const std::vector<size_t> &lengths, bool checksummed = true) {
        DataWriter writer(*volume, checksummed, true);
        for (const size_t length : lengths) {
            ASSERT_TRUE(write(writer, length).is_ok());
        }
        ASSERT_TRUE(writer.flush().is_ok());
        EXPECT_TRUE(writer.has_written());
        for (const Written &one : written) {
            std::vector<std::byte> read(one.length);
            ASSERT_TRUE(volume->file().read(one.extent.offset, read.data(), one.length).is_ok());
            EXPECT_TRUE(std::equal(read.begin(), read.end(), bytes.begin())) << one.length;
            for (size_t part = 0; part < one.checksums.size(); ++part) {
                const size_t begin = part * format::checked_part;
                const size_t length = std::min(format::checked_part, one.length - begin);
                EXPECT_EQ(one.checksums[part], crc32c(0, &bytes[begin], length)) << one.length;
            }
        }
    }

    DirectDisk disk;
    std::optional<Volume> volume;
    std::vector<std::byte> bytes = std::vector<std::byte>(9 * direct_mib);
    std::vector<Written> written;
};

TEST_F(DirectTest, LargeDataGoPastThePageCacheInWholeBlocks) {
    write_all({9 * direct_mib - 5, direct_mib + 4096, 5000, 70'000});
    EXPECT_EQ(disk.buffered, 0U);
    EXPECT_TRUE(disk.whole_blocks);
}

TEST_F(DirectTest, AnOperationThatWritesLittleUsesThePageCache) {
    write_all({direct_mib / 4, direct_mib / 4, direct_mib / 4});
    EXPECT_EQ(disk.past_cache, 0U);
}

TEST_F(DirectTest, DataThatShareABlockUseThePageCache) {
    write_all({100, 2 * direct_mib, 200, 4096, 4095});
    EXPECT_EQ(disk.past_cache, 2 * direct_mib + 4096);
    EXPECT_TRUE(disk.whole_blocks);
}

TEST_F(DirectTest, OneThreadOrNoneWritesTheSameData) {
    for (const int threads : {1, 0}) {
        disk.threads = threads;
        write_all({bytes.size()}, false);
    }
    EXPECT_EQ(disk.past_cache, 2 * bytes.size());
}

TEST_F(DirectTest, APartialWriteIsContinuedByTheNextCall) {
    disk.longest = 3 * format::block;
    write_all({2 * direct_mib});
}

TEST_F(DirectTest, WithoutMemoryForBuffersAllDataUseThePageCache) {
    class NoPages : public DirectDisk {
    public:
        void *map_pages(size_t) override { return nullptr; }
    } full;
    PagePool::instance().trim();
    write_all({2 * direct_mib});
    EXPECT_EQ(full.past_cache, 0U);
}

TEST_F(DirectTest, AnErrorIsReportedWhereverItHappensAndNothingIsWrittenAfterwards) {
    const struct {
        int error;
        cd_error code;
    } cases[] = {{EIO, CD_ERROR_STORE_IO}, {ENOSPC, CD_ERROR_STORE_FULL}};
    for (const auto &[error, code] : cases) {
        for (const off_t from : {off_t{0}, off_t{5 * direct_mib}, off_t{8 * direct_mib}}) {
            disk.past_cache = 0;
            disk.failing_from = from;
            disk.error = error;
            DataWriter writer(*volume, true, true);
            Status status = write(writer, bytes.size());
            status = status.is_ok() ? writer.flush() : std::move(status);
            EXPECT_EQ(status.code(), code);
            EXPECT_NE(std::string(message()).find(std::strerror(error)), std::string::npos);
            const size_t reached = disk.past_cache;
            EXPECT_EQ(writer.flush().code(), code);
            EXPECT_EQ(disk.past_cache, reached);
        }
    }
}

TEST_F(DirectTest, AnErrorOfThePageCacheLeavesNoThreadWriting) {
    disk.cache_fails = true;
    disk.delay = 1000;
    DataWriter writer(*volume, true, true);
    ASSERT_TRUE(write(writer, bytes.size()).is_ok());
    ASSERT_TRUE(write(writer, 100).is_ok());
    EXPECT_EQ(writer.flush().code(), CD_ERROR_STORE_IO);
    EXPECT_NE(std::string(message()).find(std::strerror(EIO)), std::string::npos);
    EXPECT_EQ(disk.past_cache, bytes.size());
}

TEST_F(DirectTest, AnAbandonedOperationLeavesNoThreadWriting) {
    {
        DataWriter writer(*volume, true, true);
        ASSERT_TRUE(write(writer, bytes.size()).is_ok());
    }
    EXPECT_GT(disk.joined, 0);
    EXPECT_EQ(disk.joined, 100 - disk.threads) << "of those that were started";
}

class DirectStore : public StoreDirectory {};

// Without sync=full an advance does not wait for the disk, and the page cache is the fastest.
TEST_F(DirectStore, WritesPastThePageCacheOnlyWithSyncFull) {
    class Counting : public ReplacedSystem {
    public:
        int open_direct(int, uint64_t &) override {
            ++count;
            return -1;
        }
        int count = 0;
    };
    for (const auto &[key, times] : {std::pair("full", 1), std::pair("none", 0)}) {
        const std::string storage = "store=file,dir=" + directory_ + "/" + key + ",sync=" + key;
        EXPECT_EQ(in_process([&] {
                      const Counting system;
                      cd_handle root = create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED,
                                                 "root", nullptr);
                      return root != nullptr ? system.count : 99;
                  }),
                  times)
            << key;
    }
}

// Otherwise the late write would overwrite the data of the next owner.
TEST_F(DirectStore, AReleasedPlaceIsNotReusedWhileItMayStillBeWritten) {
    const DirectDisk disk;
    cd_handle root = create();
    ASSERT_NE(root, nullptr);
    {
        FamilyLock lock;
        ASSERT_TRUE(lock.lock(root, FamilyLock::Reach::self).is_ok());
        auto &store = static_cast<FileStore &>(*lock.domain().store);
        std::vector<std::byte> memory(2 * direct_mib);
        const auto begin = reinterpret_cast<uintptr_t>(memory.data());
        std::unique_ptr<Transaction> transaction = store.begin();
        Piece place;
        ASSERT_TRUE(transaction->keep({begin, begin + memory.size()}, place).is_ok());
        const auto offset = static_cast<FileRun &>(*place.block().backing()).runs()[0].offset;
        place.give_up(memory.size());
        Extent other;
        ASSERT_TRUE(store.volume().reserve(memory.size(), other).is_ok());
        EXPECT_NE(other.offset, offset);
        transaction.reset();
        Extent again;
        ASSERT_TRUE(store.volume().reserve(memory.size(), again).is_ok());
        EXPECT_EQ(again.offset, offset);
    }
    EXPECT_EQ(commit_cd(root), CD_SUCCESS) << cd_last_error_message();
}

} // namespace
} // namespace cd
