// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The system reports a failed write once; every thread that wrote has to learn of it.

#include "../replaced_system.h"
#include "file_store/group_sync.h"
#include "store_directory.h"
#include "worker_thread.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cd {
namespace {

// Forces nothing, and fails when it is told to.
class ForcedDisk : public ReplacedSystem {
public:
    int sync_data(int) override {
        ++forced;
        if (meanwhile) {
            std::exchange(meanwhile, nullptr)();
        }
        errno = EIO;
        return std::exchange(fails, false) ? -1 : 0;
    }

    std::atomic<int> forced = 0;
    bool fails = false;
    std::function<void()> meanwhile;
};

TEST(GroupSync, FailsForAllThatHaveBegunBeforeAFailure) {
    ForcedDisk disk;
    const File file(-1, "the file");
    GroupSync forcing(file);
    const auto before = forcing.mark();
    EXPECT_TRUE(forcing.force(before));
    disk.fails = true;
    EXPECT_FALSE(forcing.force(forcing.mark()));
    EXPECT_FALSE(forcing.force(before));
    EXPECT_NE(std::string(message()).find("another call"), std::string::npos) << message();
    EXPECT_TRUE(forcing.force(forcing.mark()));
}

// Threads that come to wait while one forces have the next one together.
TEST(GroupSync, IsDoneOnceForAllThatWait) {
    constexpr int times = 5; // who waits for the mutex does not do so for long
    ForcedDisk disk;
    const File file(-1, "the file");
    GroupSync forcing(file);
    std::array<std::atomic<pid_t>, 8> ids = {};
    std::vector<std::thread> waiting;
    std::atomic<size_t> well = 0;
    disk.meanwhile = [&] {
        for (std::atomic<pid_t> &id : ids) {
            waiting.emplace_back([&] {
                id = ::gettid();
                well += forcing.force(forcing.mark()) ? 1 : 0;
            });
        }
        const auto waits = [](const auto &id) { return id != 0 && sleeps(id); };
        for (int seen = 0; seen < times; seen = std::ranges::all_of(ids, waits) ? seen + 1 : 0) {
            std::this_thread::yield();
        }
    };
    EXPECT_TRUE(forcing.force(forcing.mark()));
    for (std::thread &thread : waiting) {
        thread.join();
    }
    EXPECT_EQ(well, ids.size());
    EXPECT_EQ(disk.forced, 2);
}

// Two children of one root, in threads.
class ForcedTogether : public StoreDirectory {
protected:
    static bool add(cd_handle cd, const std::vector<char> &bytes) {
        const cd_addrspec range{const_cast<char *>(bytes.data()), bytes.size(), CD_READ_WRITE,
                                CD_GLOBAL};
        return add_to_cd_via_copy(cd, &range, 1, nullptr) == CD_SUCCESS;
    }
};

// The kernel reports a failed write to the first sync only.
TEST_F(ForcedTogether, AnAddWhoseDataMayBeLostWithAnothersFails) {
    class Writeback : public ForcedDisk {
    public:
        ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
            const ssize_t written = System::write_at(fd, from, length, offset);
            if (length >= 50000 && after_data) {
                std::exchange(after_data, nullptr)();
            }
            return written;
        }
        void *map_file(int, size_t) override { return nullptr; } // as on disks, also in tmpfs

        std::function<void()> after_data;
    };
    const std::vector<char> first(100000, 1);
    const std::vector<char> second(100000, 2);
    WorkerThread other;
    cd_handle other_child = nullptr;
    bool other_added = true;
    cd_handle root = [&] {
        const Writeback without_maps;
        return create();
    }();
    ASSERT_NE(root, nullptr);
    cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_DISABLED, nullptr, nullptr);
    other([&] {
        other_child = create_cd(root, nullptr, CD_COMM_LOGGING_DISABLED, nullptr, nullptr);
    });
    {
        Writeback disk;
        disk.after_data = [&] {
            disk.fails = true;
            other([&] { other_added = add(other_child, second); });
        };
        EXPECT_FALSE(add(child, first));
        EXPECT_EQ(cd_last_error(), CD_ERROR_STORE_IO);
        EXPECT_FALSE(other_added);
        EXPECT_TRUE(add(child, first));
    }
    other([&] {
        EXPECT_TRUE(add(other_child, second));
        EXPECT_EQ(commit_cd(other_child), CD_SUCCESS);
    });
    EXPECT_EQ(commit_cd(child), CD_SUCCESS);
    EXPECT_EQ(commit_cd(root), CD_SUCCESS);
}

} // namespace
} // namespace cd
