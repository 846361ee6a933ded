// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdio>
#include <string>
#include <unistd.h>

// What is written to standard error while it lives.
class Complaints {
public:
    Complaints() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
        std::fflush(stderr);
        dup2(fileno(file_), STDERR_FILENO);
    }
    ~Complaints() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        std::fclose(file_);
    }
    std::string text() {
        std::fflush(stderr);
        std::string all(65536, '\0');
        const ssize_t size = pread(fileno(file_), all.data(), all.size(), 0);
        all.resize(size > 0 ? static_cast<size_t>(size) : 0);
        return all;
    }
    bool name(const char *what) { return text().find(what) != std::string::npos; }

private:
    std::FILE *file_;
    int before_;
};
