// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file.h"

#include "../replaced_system.h"
#include "file_store/permissions.h"
#include "os/retry_eintr.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>

namespace cd {
namespace {

std::string said_of(int error) {
    errno = error;
    (void)File(-1, "dir").refused("list the directory").is_ok();
    return message();
}

TEST(FileErrors, OfADirectoryHaveNoOffset) {
    EXPECT_EQ(said_of(EMFILE), "dir: cannot list the directory: \"Too many open files\"; the call "
                               "has changed nothing and can be repeated");
    EXPECT_EQ(said_of(ENOSPC),
              "dir: no room on the disk (\"No space left on device\") to list the "
              "directory; free some and repeat the call, which has changed nothing");
}

TEST(FileErrors, HaveAnOffsetWhereThatSaysSomething) {
    errno = EIO;
    (void)File(-1, "file").refused("read", UINT64_MAX).is_ok();
    EXPECT_EQ(std::string(message()),
              "file: cannot read at offset 18446744073709551615: \"Input/output error\"; the call "
              "has changed nothing and can be repeated");
}

TEST(FileErrors, NameMemoryThatCannotBeWritten) {
    constexpr size_t page = 4096;
    void *const constant = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(constant, MAP_FAILED);
    const File file(::open("/proc/self/exe", O_RDONLY), "file");
    EXPECT_FALSE(file.read(64, constant, 100).is_ok());
    char address[32];
    std::snprintf(address, sizeof address, "%p", constant);
    EXPECT_EQ(std::string(message()),
              std::string("file: cannot read at offset 64: the memory at ") + address +
                  " for these 100 bytes cannot be written to; delete it from the CD, or make it "
                  "writable");
    ::munmap(constant, page);
}

// A profiler's timer may be shorter than the call takes.
TEST(FileErrors, TellOfACallThatSignalsInterruptEachTime) {
    class Interrupted : public ReplacedSystem {
    public:
        ssize_t read_at(int /*fd*/, void * /*to*/, size_t /*length*/, off_t /*offset*/) override {
            return interrupt();
        }
        ssize_t write_at(int /*fd*/, const void * /*from*/, size_t /*length*/,
                         off_t /*offset*/) override {
            return interrupt();
        }
        int allocate(int /*fd*/, off_t /*offset*/, off_t /*length*/) override {
            return interrupt();
        }
        int sync_data(int /*fd*/) override { return interrupt(); }
        int sync_all(int /*fd*/) override { return interrupt(); }

        int calls = 0;

    private:
        int interrupt() {
            ++calls;
            errno = calls < 2 * os::most_interruptions ? EINTR : EBADF;
            return -1;
        }
    };
    const File file(::memfd_create("file", 0), "file");
    char byte = 0;
    const std::function<Status()> calls[] = {
        [&] { return file.read(0, &byte, 1); }, [&] { return file.write(0, &byte, 1); },
        [&] { return file.grow(0, 4096); }, [&] { return file.sync_data(); },
        [&] { return file.sync_all(); }};
    for (const auto &call : calls) {
        Interrupted system;
        EXPECT_EQ(call().code(), CD_ERROR_STORE_IO);
        EXPECT_EQ(system.calls, os::most_interruptions) << message();
        EXPECT_NE(std::string(message()).find("Interrupted"), std::string::npos) << message();
    }
}

TEST(PathErrors, AdviseAnotherDirectoryOnlyWhereThatMayHelp) {
    const auto said_of_path = [](int error) {
        errno = error;
        (void)refuse_path_for_error("dir", "open it").is_ok();
        return std::string(message());
    };
    EXPECT_EQ(said_of_path(EACCES),
              "dir: cannot open it: \"Permission denied\"; give another dir= in storage_info");
    for (const int error : {EMFILE, ENFILE, ENOMEM, EINTR}) {
        const std::string said = said_of_path(error);
        EXPECT_TRUE(said.ends_with("; the call has changed nothing and can be repeated")) << said;
    }
    for (const int error : {ENOSPC, EDQUOT}) {
        errno = error;
        const Status status = refuse_path_for_error("dir", "make it");
        EXPECT_EQ(status.code(), CD_ERROR_STORE_FULL);
        EXPECT_NE(std::string(message()).find("free some"), std::string::npos) << message();
    }
}

} // namespace
} // namespace cd
