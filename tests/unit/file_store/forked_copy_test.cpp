// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a process that was forked reads of a store with which its parent goes on.

#include "os/system.h"
#include "store_directory.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace cd {
namespace {

// A disk that takes nothing from a while on.
class ClosedDisk : public os::System {
public:
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        if (writes_left == 0) {
            errno = EIO;
            return -1;
        }
        --writes_left;
        return System::write_at(fd, from, length, offset);
    }
    static constexpr int no_limit = 1'000'000;
    int writes_left = no_limit;
};

class ForkedCopy : public StoreDirectory {
protected:
    bool add(std::vector<char> &bytes) const {
        const cd_addrspec range = {bytes.data(), bytes.size(), CD_READ_WRITE, CD_GLOBAL};
        return add_to_cd_via_copy(root_, &range, 1, nullptr) == CD_SUCCESS;
    }
    bool advance_with(char value) {
        std::ranges::fill(memory_, value);
        return add(memory_) && advance_cd_point_in_time(root_) == CD_SUCCESS;
    }
    // Forked, and waiting until its parent goes on.
    template <typename Body> static pid_t forked(const Body &body) {
        const pid_t copy = ::fork();
        if (copy == 0) {
            ::raise(SIGSTOP);
            ::_exit(body());
        }
        ::waitpid(copy, nullptr, WUNTRACED);
        return copy;
    }
    static int result_of(pid_t copy) {
        int status = 0;
        ::kill(copy, SIGCONT);
        ::waitpid(copy, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    cd_handle root_ = nullptr;
    std::vector<char> memory_ = std::vector<char>(100'000);
};

// What is left of a record that failed cannot be told from one of the parent's.
TEST_F(ForkedCopy, OfAnUnsettledJournalTakesNoDataWithoutChecksumsForItsOwn) {
    int failed = 0;
    for (int writes = 0; writes < 10; ++writes) {
        std::filesystem::remove(store());
        const int taken = in_process([&] {
            ClosedDisk disk;
            os::replace_system(&disk);
            std::vector<char> more(100);
            root_ = create(",checksum=none");
            if (!advance_with('a') || !advance_with('b')) {
                return 101;
            }
            disk.writes_left = writes;
            const bool added = add(more);
            disk.writes_left = ClosedDisk::no_limit;
            const pid_t copy = forked([&] {
                std::ranges::fill(memory_, '-');
                const bool restored = restore_cd(root_) == CD_SUCCESS;
                return restored ? memory_[0] : cd_last_error() == CD_ERROR_STORE_FORKED ? 0 : 102;
            });
            const bool advanced = advance_with('c') && advance_with('d');
            const int restored = result_of(copy);
            return !advanced ? 103 : restored != 0 ? restored : added ? 1 : 0;
        });
        EXPECT_LE(taken, 1) << writes << " writes: the copy has restored " << taken;
        failed += taken == 0 ? 1 : 0;
    }
    EXPECT_GT(failed, 1) << "the record, and what takes it back";
}

} // namespace
} // namespace cd
