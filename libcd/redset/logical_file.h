// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "file_store/file.h"
#include "redset/scattered_crc.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

namespace cd::redset {

// A member's files one after the other, read or written anywhere, with a checksum of each file. Not
// more than some of them are open at a time.
class LogicalFile {
public:
    using Open = std::function<Status(size_t file, File &opened)>;

    // May throw std::bad_alloc, as reading and writing may.
    LogicalFile(const std::vector<uint64_t> &sizes, Open open);

    Status read(uint64_t offset, std::span<std::byte> to);
    Status write(uint64_t offset, std::span<const std::byte> from);

    // Of each file, once all bytes were read or written.
    std::vector<uint32_t> checksums() const;

private:
    struct Part {
        uint64_t begin;
        uint64_t end;
        ScatteredCrc crc;
    };
    struct Opened {
        size_t part;
        File file;
    };

    template <typename Byte, typename Transfer>
    Status each_part(uint64_t offset, std::span<Byte> bytes, const Transfer &transfer);
    Status opened(size_t part, const File *&file);

    std::vector<Part> parts_;
    Open open_;
    std::list<Opened> opened_; // the last used first
};

} // namespace cd::redset
