// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "os/system.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace cd {

// A file without a name for log data beyond the limit, each extent with a checksum. One thread
// writes at a time; any thread may read.
class SpillFile {
public:
    struct Extent {
        uint64_t offset = 0;
        uint64_t length = 0;
    };

    // The first write creates the file. directory: "" means $TMPDIR, or else /tmp.
    explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
    SpillFile(const SpillFile &) = delete;
    SpillFile &operator=(const SpillFile &) = delete;
    ~SpillFile();

    // Writes data behind tail and returns its place in extent.
    Status write(uint64_t tail, std::span<const std::byte> data, Extent &extent);

    // Reads the data at extent, and verifies their checksum.
    Status read(const Extent &extent, std::span<std::byte> data) const;

private:
    struct Header;

    Status open();
    bool is_ours() const;
    Status check_open() const;
    Status write_out(std::span<const std::byte> bytes, uint64_t offset) const;
    Status read_in(std::span<std::byte> into, uint64_t offset) const;
    Status damaged(uint64_t offset) const;

    std::string directory_;
    int fd_ = -1;
    os::FileIdentity identity_; // detects a program that has closed the descriptor
};

} // namespace cd
