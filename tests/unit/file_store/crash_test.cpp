// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A process that ends at every system call of a run in turn, on a real file system. tests/crash
// does the same and more on a simulated disk.

#include "cd/cd.h"
#include "os/system.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cd {
namespace {

constexpr int steps = 6;
constexpr size_t heap_bytes = 70'000; // more than one checked part

std::array<unsigned char, 5000> global; // another process knows it by object and offset

enum class Fault { ends, ends_in_the_middle_of_a_write };

// Counts the calls that change a file, and ends the process at one of them.
class FaultySystem : public os::System {
public:
    FaultySystem(Fault fault, int at) : fault_(fault), at_(at) {}

    void *map_file(int, size_t) override { return nullptr; } // each write is to be one of the calls
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        if (now() && fault_ == Fault::ends_in_the_middle_of_a_write) {
            System::write_at(fd, from, length / 2 / 512 * 512, offset);
            ::_exit(crashed);
        }
        return System::write_at(fd, from, length, offset);
    }
    int sync_data(int fd) override {
        other_call();
        return System::sync_data(fd);
    }
    int sync_all(int fd) override {
        other_call();
        return System::sync_all(fd);
    }
    int allocate(int fd, off_t offset, off_t length) override {
        other_call();
        return System::allocate(fd, offset, length);
    }
    int link_at(int directory, const char *from, const char *to) override {
        other_call();
        return System::link_at(directory, from, to);
    }
    int unlink_at(int directory, const char *name) override {
        other_call();
        return System::unlink_at(directory, name);
    }

    static constexpr int crashed = 42;

private:
    void other_call() {
        if (fault_ != Fault::ends_in_the_middle_of_a_write) {
            now();
        }
    }
    bool now() {
        const bool is_it = count_++ == at_;
        if (is_it && fault_ == Fault::ends) {
            ::_exit(crashed);
        }
        return is_it;
    }
    Fault fault_;
    int at_;
    int count_ = 0;
};

struct Memory {
    std::unique_ptr<unsigned char[]> heap{new unsigned char[heap_bytes]()};

    void set(int step) {
        global.fill(static_cast<unsigned char>(step));
        std::fill_n(heap.get(), heap_bytes, static_cast<unsigned char>(step));
    }
    // The step that all of it is of; -1 if it is torn.
    int step() const {
        const unsigned char first = global[0];
        for (const unsigned char byte : global) {
            if (byte != first) {
                return -1;
            }
        }
        for (size_t i = 0; i < heap_bytes; ++i) {
            if (heap[i] != first) {
                return -1;
            }
        }
        return first;
    }
    int add_to(cd_handle cd) {
        const cd_addrspec list[] = {
            {global.data(), global.size(), CD_READ_WRITE, CD_GLOBAL},
            {heap.get(), heap_bytes, CD_READ_WRITE, CD_GLOBAL},
        };
        return add_to_cd_via_copy(cd, list, 2, nullptr);
    }
};

class CrashTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "cd-crash-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        void *shared =
            ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        done_ = static_cast<volatile int *>(shared);
    }
    void TearDown() override {
        ::munmap(const_cast<int *>(done_), sizeof(int));
        std::filesystem::remove_all(directory_);
    }

    cd_handle create() const {
        const std::string storage = "store=file,sync=full,dir=" + directory_ + "/d";
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }

    // Runs body in a process of its own; the status it ends with.
    template <typename Body> static int in_process(const Body &body) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(body());
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    void begin() {
        std::filesystem::remove_all(directory_ + "/d");
        *done_ = -1;
    }

    // Steps, each in a child CD that is committed, and an advance of the root. done_ is the last
    // that is over: -1 before the first add, 0 after it.
    int work() const {
        Memory memory;
        memory.set(0);
        cd_handle root = create();
        if (root == nullptr || memory.add_to(root) != CD_SUCCESS) {
            return 1;
        }
        *done_ = 0;
        for (int step = 1; step <= steps; ++step) {
            cd_handle child = create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
            if (child == nullptr || memory.add_to(child) != CD_SUCCESS) {
                return 2;
            }
            memory.set(step);
            if (commit_cd(child) != CD_SUCCESS || advance_cd_point_in_time(root) != CD_SUCCESS) {
                return 3;
            }
            *done_ = step;
        }
        return 0;
    }

    // The step that a new process finds; -2: none, -1: torn, less: an error.
    int found() const {
        const int result = in_process([&] {
            Memory memory;
            memory.set(99);
            cd_handle root = create();
            cd_info info;
            if (root == nullptr || cd_query(root, &info) != CD_SUCCESS) {
                std::fprintf(stderr, "%s\n", cd_last_error_message());
                return 197;
            }
            if (info.restarted == 0 || (info.bytes == 0 && info.unbound == 0)) {
                return 200; // nothing was stored yet
            }
            if (memory.add_to(root) != CD_SUCCESS || restore_cd(root) != CD_SUCCESS) {
                std::fprintf(stderr, "%s\n", cd_last_error_message());
                return 198;
            }
            const int step = memory.step();
            return step < 0 ? 199 : step;
        });
        return result == 200 ? -2 : result;
    }

    void sweep_crashes(Fault fault) {
        for (int at = 0;; ++at) {
            begin();
            const int ended = in_process([&] {
                FaultySystem system(fault, at);
                os::replace_system(&system);
                return work();
            });
            ASSERT_TRUE(ended == 0 || ended == FaultySystem::crashed) << "ended with " << ended;
            const int done = *done_;
            const int step = found();
            const bool old_state = done < 0 ? step == -2 : step == done;
            const bool new_state = done < 0 ? step == 0 : step == done + 1;
            ASSERT_TRUE(old_state || (new_state && ended != 0))
                << "call " << at << ": " << done << " steps were over, found " << step;
            if (ended == 0) {
                ASSERT_GT(at, 5 * steps) << "the sweep saw too few calls";
                return;
            }
        }
    }

    std::string directory_;
    volatile int *done_ = nullptr;
};

TEST_F(CrashTest, ProcessThatEndsAtAnySystemCallLeavesTheOldOrTheNewState) {
    sweep_crashes(Fault::ends);
}

TEST_F(CrashTest, WriteThatEndsInItsMiddleLeavesTheOldOrTheNewState) {
    sweep_crashes(Fault::ends_in_the_middle_of_a_write);
}

} // namespace
} // namespace cd
