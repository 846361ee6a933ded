// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A program without standard input and output, as one that has become a daemon.

#include "restarting.h"

#include <fcntl.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace restarting {
namespace {

class ClosedOutput : public Restarting {
protected:
    static void close_from(int first) {
        for (int fd = first; fd <= STDERR_FILENO; ++fd) {
            ::close(fd);
        }
    }
    // "" or which of those that were closed is open.
    static std::string opened_from(int first) {
        for (int fd = first; fd <= STDERR_FILENO; ++fd) {
            if (::fcntl(fd, F_GETFD) >= 0) {
                return std::to_string(fd) + " is a descriptor of the library's";
            }
        }
        return "";
    }
    // To nobody, or over what is open there.
    static void say() {
        constexpr std::string_view line = "what the program has to say\n";
        for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
            (void)!::write(fd, line.data(), line.size());
        }
    }
};

std::vector<char> much(16 * kib * kib); // enough to go past the page cache

TEST_F(ClosedOutput, IsNeverTheStore) {
    run([&]() -> std::string {
        cd_name_region("memory", much.data(), much.size());
        close_from(STDIN_FILENO);
        cd_handle root = create("");
        std::ranges::fill(much, 1);
        if (root == nullptr || !add(root, much.data(), much.size())) {
            return refusal();
        }
        say();
        return opened_from(STDIN_FILENO);
    });
    run([&]() -> std::string {
        cd_name_region("memory", much.data(), much.size());
        close_from(STDOUT_FILENO);
        cd_handle root = create("");
        say();
        if (root == nullptr || restore_cd(root) != CD_SUCCESS || much.back() != 1) {
            return refusal();
        }
        std::ranges::fill(much, 2);
        say();
        if (!add(root, much.data(), much.size()) || advance_cd_point_in_time(root) != CD_SUCCESS) {
            return refusal();
        }
        say();
        return opened_from(STDOUT_FILENO);
    });
    run([&] {
        cd_name_region("memory", much.data(), much.size());
        cd_handle root = create("");
        return root != nullptr && restore_cd(root) == CD_SUCCESS && much.back() == 2;
    });
}

} // namespace
} // namespace restarting
