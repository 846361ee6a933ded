// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace cd {

// Tests of stores in a directory of their own, whose programs run in processes of their own.
class StoreDirectory : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "cd-store-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    cd_handle create(const char *more = "") const {
        const std::string storage = "store=file,sync=full,dir=" + directory_ + more;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }

    std::string store() const { return directory_ + "/0-root.cds"; }

    // The names in the directory.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(directory_)) {
            names.push_back(entry.path().filename());
        }
        return names;
    }

    // Runs body in a process of its own; what it returns, or 128 and the signal that ended it.
    template <typename Body> static int in_process(const Body &body) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(body());
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    std::string directory_;
};

} // namespace cd
