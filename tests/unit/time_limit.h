// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

// A program that waits for ever ends here, and says in what. One at a time.
class TimeLimit {
public:
    explicit TimeLimit(unsigned seconds, const std::string &what = "the test") {
        std::snprintf(line.data(), line.size(), "%s has not ended after %u seconds\n", what.c_str(),
                      seconds);
        std::signal(SIGALRM, [](int) {
            (void)!::write(STDERR_FILENO, line.data(), std::strlen(line.data()));
            ::_exit(1);
        });
        ::alarm(seconds);
    }
    TimeLimit(const TimeLimit &) = delete;
    ~TimeLimit() {
        ::alarm(0);
        std::signal(SIGALRM, SIG_DFL);
    }

private:
    static inline std::array<char, 300> line = {};
};
