// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cd::os {
namespace {

constexpr size_t huge_page = size_t{2} << 20;

TEST(System, MapsZeroedWritablePages) {
    for (const size_t size : {size_t{4096}, size_t{64} << 10, huge_page, huge_page + 4096}) {
        auto *at = static_cast<unsigned char *>(system().map_pages(size));
        ASSERT_NE(at, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % (size < huge_page ? 4096 : huge_page), 0u);
        EXPECT_TRUE(std::all_of(at, at + size, [](unsigned char byte) { return byte == 0; }));
        std::fill(at, at + size, 0xff);
        system().unmap_pages(at, size);
    }
}

// The limit of this process on the length of files, until its end.
class SizeLimit {
public:
    SizeLimit() { ::getrlimit(RLIMIT_FSIZE, &before_); }
    SizeLimit(const SizeLimit &) = delete;
    SizeLimit &operator=(const SizeLimit &) = delete;
    ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

    void set(rlim_t length) const {
        const rlimit limit = {length, before_.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }

private:
    rlimit before_ = {};
};

// The signal for that would end this program.
TEST(System, WhatMakesAFileLongerThanIsAllowedIsRefused) {
    const SizeLimit limit;
    limit.set(10'000);
    const int fd = system().open_at(AT_FDCWD, std::filesystem::temp_directory_path().c_str(),
                                    O_TMPFILE | O_RDWR, 0600);
    ASSERT_GE(fd, 0);
    const std::vector<char> bytes(5000);
    EXPECT_EQ(system().write_at(fd, bytes.data(), bytes.size(), 5000), 5000);
    EXPECT_EQ(system().write_at(fd, bytes.data(), bytes.size(), 5001), -1);
    EXPECT_EQ(errno, EFBIG);
    EXPECT_EQ(system().allocate(fd, 0, 10'001), -1);
    EXPECT_EQ(errno, EFBIG);
    EXPECT_EQ(system().allocate(fd, 0, 10'000), 0);
    limit.set(20'000);
    EXPECT_EQ(system().write_at(fd, bytes.data(), bytes.size(), 15'000), 5000);
    EXPECT_EQ(system().allocate(fd, 0, 20'001), -1);
    ::close(fd);
}

// Pages of address space that the process has.
long mapped_pages() {
    char text[64] = "";
    const int fd = ::open("/proc/self/statm", O_RDONLY);
    const bool read = ::read(fd, text, sizeof text - 1) > 0;
    ::close(fd);
    return read ? std::atol(text) : -1;
}

TEST(System, LeavesNothingMapped) {
    std::vector<std::pair<void *, size_t>> regions(20);
    const long before = mapped_pages();
    ASSERT_GT(before, 0);
    for (size_t i = 0; i < regions.size(); ++i) { // of sizes that do not line up
        const size_t size = huge_page + (i % 3 + 1) * (huge_page / 4);
        regions[i] = {system().map_pages(size), size};
    }
    for (const auto &[at, size] : regions) {
        system().unmap_pages(at, size);
    }
    EXPECT_LT(mapped_pages() - before, 1000); // a lost quarter of a huge page each would be 2560
}

// The second descriptor writes to the same file, although that has no name any more.
TEST(System, OpensFilesOnDisksOnceMoreForWritesPastThePageCache) {
    std::string path = std::filesystem::temp_directory_path() / "cd-system-XXXXXX";
    const int fd = ::mkostemp(path.data(), O_CLOEXEC);
    ASSERT_GE(fd, 0);
    ::unlink(path.c_str());
    uint64_t pays_from = 0;
    const int direct = system().open_direct(fd, pays_from);
    if (direct < 0) {
        ::close(fd);
        GTEST_SKIP() << "temporary files are not on a disk for that";
    }
    EXPECT_GT(pays_from, 0U);
    EXPECT_NE(::fcntl(direct, F_GETFL) & O_DIRECT, 0);
    constexpr size_t size = 4096;
    auto *block = static_cast<unsigned char *>(system().map_pages(size));
    ASSERT_NE(block, nullptr);
    std::fill(block, block + size, 7);
    EXPECT_EQ(system().write_at(direct, block, size, 4096), 4096);
    std::fill(block, block + size, 0);
    EXPECT_EQ(system().read_at(fd, block, size, 4096), 4096);
    EXPECT_TRUE(std::all_of(block, block + size, [](unsigned char byte) { return byte == 7; }));
    system().unmap_pages(block, size);
    ::close(direct);
    ::close(fd);
}

TEST(System, OpensNoFilesInMemoryForThem) {
    std::string path = "/dev/shm/cd-system-XXXXXX";
    const int fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) {
        GTEST_SKIP() << "needs /dev/shm";
    }
    ::unlink(path.c_str());
    uint64_t pays_from = 0;
    EXPECT_EQ(system().open_direct(fd, pays_from), -1);
    ::close(fd);
}

TEST(System, ThreadsTakeNoSignalsOfTheProgram) {
    sigset_t before;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    sigset_t in_thread;
    ::sigemptyset(&in_thread);
    pthread_t thread = {};
    const auto look = [](void *into) -> void * {
        ::pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t *>(into));
        return nullptr;
    };
    ASSERT_EQ(system().start_thread(thread, look, &in_thread), 0);
    system().join_thread(thread);
    sigset_t after;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD}) {
        EXPECT_EQ(::sigismember(&in_thread, signal), 1) << signal;
        EXPECT_EQ(::sigismember(&after, signal), ::sigismember(&before, signal)) << signal;
    }
}

TEST(System, WhatPeopleAreToldDoesNotControlTheirTerminal) {
    testing::internal::CaptureStderr();
    system().warn("a \x1b[31mname\n of \xc3\xa4 file");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "containment-domains: a \\x1b[31mname\\x0a of \xc3\xa4 file\n");
    const std::string path(5000, '/');
    testing::internal::CaptureStderr();
    system().warn(path.c_str());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "containment-domains: " + path + "\n");
}

// The only free number is that of standard input, which the library never takes.
TEST(System, AFileThatFindsNoNumberIsNotLeftBehind) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("cd-" + std::to_string(::getpid()))).string();
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit = {STDERR_FILENO + 1, STDERR_FILENO + 1};
        ::close(STDIN_FILENO);
        const bool limited = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
        const int fd =
            system().open_at(AT_FDCWD, path.c_str(), O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
        ::_exit(limited && fd < 0 ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(std::filesystem::remove(path));
}

} // namespace
} // namespace cd::os
