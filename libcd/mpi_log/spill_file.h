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

// A file without a name that holds what a log has no memory for. It ends with the process, or when
// nobody refers to it. What is written is compressed in blocks, each with a checksum: damage is an
// error and never other data.
//
// One thread writes at a time; any may read what has been written.
class SpillFile {
public:
    // Where something lies in the file.
    struct Extent {
        uint64_t offset = 0;
        uint64_t length = 0;
    };

    // The file comes into being with the first write. directory: "" for $TMPDIR, else /tmp.
    explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
    SpillFile(const SpillFile &) = delete;
    SpillFile &operator=(const SpillFile &) = delete;
    ~SpillFile();

    // Puts data behind tail; on success extent is where. May throw std::bad_alloc.
    Status write(uint64_t tail, std::span<const std::byte> data, Extent &extent);

    // Fills data with what was written as extent. May throw std::bad_alloc.
    Status read(const Extent &extent, std::span<std::byte> data) const;

private:
    struct BlockHeader;

    Status open();
    bool is_ours() const;
    Status check_open() const;
    Status write_out(std::span<const std::byte> bytes, uint64_t offset) const;
    Status read_in(std::span<std::byte> into, uint64_t offset) const;
    Status damaged(uint64_t offset) const;

    std::string directory_;
    int fd_ = -1;
    os::FileIdentity identity_; // a program may close descriptors that are not its own
};

} // namespace cd
