// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "in_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace processes {

std::string in_process(const std::function<std::string()> &body, pid_t (*fork)()) {
    std::array<int, 2> ends = {};
    if (::pipe(ends.data()) != 0) {
        std::abort();
    }
    const pid_t child = fork();
    if (child == 0) {
        ::alarm(deadline);
        const std::string answer = body();
        const bool written =
            ::write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string answer;
    std::array<char, 4096> part = {};
    for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
        answer.append(part.data(), static_cast<size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0 ? answer : "the process ended with status " + std::to_string(status);
}

} // namespace processes
