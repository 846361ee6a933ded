// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cd::logger {

// A recorded log on disk; docs/log-file.md has the format. Entries are collected in blocks, which
// are written with their checksums. A failure is said once, and ends the writing.
class LogFile {
public:
    LogFile() = default;
    LogFile(const LogFile &) = delete;
    LogFile &operator=(const LogFile &) = delete;
    ~LogFile();

    // Makes directory if it is not there, and begins a file for the rank in it.
    void open(const std::string &directory, int rank);
    bool is_open() const { return descriptor_ >= 0; }

    void append(const void *entry, uint64_t size);
    void close();

private:
    void write_block();
    bool write_all(const void *data, size_t size);
    void give_up(const char *doing);

    std::string path_;
    int descriptor_ = -1;
    std::vector<std::byte> block_;
};

} // namespace cd::logger
