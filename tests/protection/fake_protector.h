// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "cd/protection.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// The protector of this process: one rank, whose images lie in a directory.
struct FakeProtector {
    static FakeProtector &instance();

    // Orders of the test.
    std::filesystem::path images;  // where
    bool later = false;            // points are kept, for take_images()
    bool restarts = true;          // the newest image there is where a root starts
    cd_protected_start start = {}; // otherwise
    cd_error open_fails = CD_ERROR_NONE;
    cd_error may_not_advance = CD_ERROR_NONE; // in another rank
    cd_error protect_fails = CD_ERROR_NONE;
    cd_error opened_fails = CD_ERROR_NONE; // in another rank
    cd_error commit_fails = CD_ERROR_NONE;
    std::function<void()> all_may_advance = [] {};

    // Calls and arguments that it got.
    std::vector<std::string> calls;
    std::string skipped_since; // why the last one that was skipped was
    std::string settings;
    std::string restart;
    std::string directory;
    std::vector<cd_offered_point> kept;
    uint64_t protected_epoch = 0;

    // Writes the image of a point, which counts from then on. CD_ERROR_NONE, or why not.
    int take_image(const cd_offered_point &point, cd_protection_message *message);

    // Writes the images of all points that it keeps, and releases these.
    void take_images();

    std::filesystem::path image(uint64_t epoch) const;
    uint64_t newest_image() const;
};

// A root with a protector, and memory for it to hold.
class Protected : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    cd_handle create(const std::string &more = "") const;
    void begin(const std::string &more = "");
    void add();
    void fill(char value);
    // Makes a point in time in which all bytes have the value.
    void advance_with(char value);
    cd_info info() const;
    std::vector<std::string> calls();       // since the last question
    std::vector<std::string> files() const; // of the local store

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

    FakeProtector &protector = FakeProtector::instance();
    std::filesystem::path scratch; // for the test
    std::filesystem::path local;   // where the store is
    cd_handle root = nullptr;
    std::vector<char> memory = std::vector<char>(200'000);
};
