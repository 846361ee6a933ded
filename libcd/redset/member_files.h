// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "os/system.h"
#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// Opens a regular file, and leaves its time of access alone where that is allowed.
Status open_to_read(const std::string &path, File &file, os::FileAttributes &attributes);

// Opens a file that the library wrote. Refuses symbolic links.
Status open_own_to_read(const std::string &path, File &file, os::FileAttributes &attributes);

// Reads the tree at the beginning of a file that the library wrote. `size`: of the tree's image.
Status read_own_image(const std::string &path, KvTree &tree, uint64_t &size);

// Opens a file that a member stored in a set.
Status open_stored(const Place &place, const std::string &name, File &file,
                   os::FileAttributes &attributes);

// True if the path still names the file: another process may have removed it.
bool leads_to(const std::string &path, const File &file);

// Computes the CRC-32C of bytes that arrive in several runs in turns, each from start to end.
class ScatteredCrc {
public:
    // May throw std::bad_alloc when a run begins.
    void add(uint64_t offset, std::span<const std::byte> bytes);

    // Returns the CRC of all bytes. They must leave no gaps.
    uint32_t whole() const;

private:
    struct Run {
        uint64_t begin;
        uint64_t end;
        uint32_t crc;
    };
    std::vector<Run> runs_;
};

// A member's files as one, read or written at any offset, with a checksum of each file. Only a few
// files are open at a time.
class LogicalFile {
public:
    using Open = std::function<Status(size_t file, File &opened)>;

    // May throw std::bad_alloc, as reading and writing may.
    LogicalFile(const std::vector<uint64_t> &sizes, Open open);

    Status read(uint64_t offset, std::span<std::byte> to);
    Status write(uint64_t offset, std::span<const std::byte> from);

    // Returns the checksum of each file, once all bytes were read or written.
    std::vector<uint32_t> checksums() const;

private:
    struct Part {
        uint64_t begin;
        uint64_t end;
        ScatteredCrc crc;
    };
    template <typename Byte, typename Transfer>
    Status each_part(uint64_t offset, std::span<Byte> bytes, const Transfer &transfer);
    Status opened(size_t part, const File *&file);

    std::vector<Part> parts_;
    Open open_;
    std::map<size_t, File> opened_; // by part
};

} // namespace cd::redset
