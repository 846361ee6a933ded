// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "in_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace restarting {

constexpr uintmax_t kib = 1024;

// Tests whose programs run in processes of their own, one after the other, on stores in a directory
// of the test.
class Restarting : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cd-restart-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string path(const std::string &name) const { return directory_ + "/" + name; }
    std::string store() const { return path("0-root.cds"); }
    uintmax_t size() const { return std::filesystem::file_size(store()); }

    cd_handle create(const std::string &more = ",sync=none") const {
        const std::string storage = "store=file,dir=" + directory_ + more;
        return create_cd(nullptr, storage.c_str(), CD_COMM_LOGGING_DISABLED, "root", nullptr);
    }
    static cd_handle child_of(cd_handle parent) {
        return create_cd(parent, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    }
    static bool add(cd_handle cd, void *at, size_t length, addr_type access = CD_READ_WRITE) {
        const cd_addrspec range = {at, length, access, CD_GLOBAL};
        return add_to_cd_via_copy(cd, &range, 1, nullptr) == CD_SUCCESS;
    }
    static cd_info info_of(cd_handle cd) {
        cd_info info = {};
        cd_query(cd, &info);
        return info;
    }
    static std::string refusal() {
        return std::to_string(cd_last_error()) + " " + cd_last_error_message();
    }

    // Expects that `body` returns true, or no problem, in a process of its own.
    template <typename Body> static void run(const Body &body) {
        EXPECT_EQ(processes::in_process([&] { return problem(body()); }), "");
    }
    static std::string problem(bool succeeded) { return succeeded ? "" : refusal(); }
    static std::string problem(const std::string &found) { return found; }

    // What a process has written to standard error that ran program, which says what is wrong.
    std::string said_by(const std::function<std::string()> &program) const {
        run([&]() -> std::string {
            if (std::freopen(path("said").c_str(), "w", stderr) == nullptr) {
                return "standard error cannot be read";
            }
            const std::string problem = program();
            std::fflush(stderr);
            return problem;
        });
        std::stringstream text;
        text << std::ifstream(path("said")).rdbuf();
        return text.str();
    }

    std::string directory_;
};

} // namespace restarting
