// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "fixture.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

// Short forms of what the logger calls in every MPI call.
class LoggerPath : public CdTest {
protected:
    // Returns where it lies, nullptr if nowhere.
    static char *write(const std::string &text) {
        const cd_log_room room = cd_log_open(text.size());
        if (room.at == nullptr) {
            return nullptr;
        }
        std::memcpy(room.at, text.data(), text.size());
        cd_log_close(text.size());
        return static_cast<char *>(room.at);
    }

    static std::string read() {
        size_t length = 0;
        const void *entry = cd_log_read(&length);
        return entry == nullptr ? "" : std::string(static_cast<const char *>(entry), length);
    }

    // Returns whether another thread sets `done` within 20 ms, which it must not do yet.
    static bool comes_true(const std::atomic<bool> &done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (!done && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        return done;
    }

    static cd_log_place here() {
        cd_log_place place = {};
        EXPECT_TRUE(cd_log_here(&place));
        return place;
    }
};
