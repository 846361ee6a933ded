// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/use_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

namespace cd::protection {

// Another job, which uses a directory until it is killed.
class OtherJob {
public:
    explicit OtherJob(const std::filesystem::path &directory) {
        int ready[2] = {};
        EXPECT_EQ(::pipe(ready), 0);
        process = ::fork();
        if (process == 0) {
            std::unique_ptr<UseLock> lock;
            const bool taken = UseLock::take(directory.string(), {1, 0, "far"}, lock).is_ok();
            (void)!::write(ready[1], "x", taken ? 1 : 0);
            ::close(ready[1]);
            while (true) {
                ::pause();
            }
        }
        ::close(ready[1]);
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
    }
    OtherJob(const OtherJob &) = delete;
    ~OtherJob() { end(); }

    void end() {
        if (process > 0) {
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
            process = 0;
        }
    }

    pid_t process = 0;
};

} // namespace cd::protection
