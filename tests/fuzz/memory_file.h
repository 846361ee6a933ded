// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "os/system.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace fuzz {

// The operating system of a fuzzer: one file, in memory.
class MemoryFile : public cd::os::System {
public:
    MemoryFile() { cd::os::replace_system(this); }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;
    ~MemoryFile() override { cd::os::replace_system(nullptr); }

    static constexpr int descriptor = 1000;
    static cd::File open() { return {descriptor, "memory.cds"}; }

    int close(int) override { return 0; }
    int status(int, cd::os::FileStatus &status) override {
        status.size = bytes.size();
        status.mode = S_IFREG | S_IRUSR | S_IWUSR;
        return 0;
    }
    ssize_t read_at(int, void *to, size_t length, off_t offset) override {
        const auto from = std::min(static_cast<size_t>(offset), bytes.size());
        const size_t count = std::min(length, bytes.size() - from);
        if (count > 0) {
            std::memcpy(to, bytes.data() + from, count);
        }
        return static_cast<ssize_t>(count);
    }
    ssize_t write_at(int, const void *from, size_t length, off_t offset) override {
        const auto to = static_cast<size_t>(offset);
        bytes.resize(std::max(bytes.size(), to + length));
        std::memcpy(bytes.data() + to, from, length);
        return static_cast<ssize_t>(length);
    }
    int allocate(int, off_t offset, off_t length) override {
        bytes.resize(std::max(bytes.size(), static_cast<size_t>(offset + length)));
        return 0;
    }
    int sync_data(int) override { return 0; }
    int sync_all(int) override { return 0; }
    void warn(const char *) override {}

    std::vector<std::byte> bytes;
};

} // namespace fuzz
