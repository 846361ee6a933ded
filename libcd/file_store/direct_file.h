// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"

#include <cstddef>
#include <cstdint>

namespace cd {

// A store file, opened once more for writes of whole blocks that go past the page cache, where that
// can be done and pays. Thread-safe.
class DirectFile {
public:
    explicit DirectFile(const File &file);
    DirectFile(const DirectFile &) = delete;
    DirectFile &operator=(const DirectFile &) = delete;
    ~DirectFile() { close(); }

    bool is_open() const { return fd_ >= 0; }
    int descriptor() const { return fd_; }

    // Whether an operation of so many bytes goes this way.
    bool pays(uint64_t bytes) const { return fd_ >= 0 && bytes >= pays_from_; }

    // Of memory that begins on a page. Returns 0, or errno, and in offset where that was. What the
    // file system does not take in this way it gets through the page cache.
    int write(uint64_t &offset, const std::byte *from, size_t length) const;

    // In a process that was forked, too: no lock depends on it.
    void close() noexcept;

private:
    const File &file_;
    uint64_t pays_from_ = 0;
    int fd_;
};

} // namespace cd
