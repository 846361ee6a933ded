// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/header.h"
#include "file_store/space.h"

#include <mutex>
#include <vector>

namespace cd {

// A store file as room for things: who needs some takes an extent, and gives it back. Thread-safe.
class Volume {
public:
    // size: of the file; all of it counts as taken.
    Volume(File file, uint64_t size) : file_(std::move(file)), size_(size) {}

    File &file() { return file_; }

    // At least length bytes, which lie in the file already: writing them cannot run out of room.
    // Lets the file grow if it has to. May throw std::bad_alloc.
    Status reserve(uint64_t length, Extent &extent);
    void release(const Extent &extent) noexcept;

    // When a file was opened: these lie in it, in any order, and from begin on the rest is free.
    // May throw std::bad_alloc.
    void only_these_are_taken(uint64_t begin, std::vector<Extent> extents);

private:
    Status grow(uint64_t length);

    File file_;
    std::mutex mutex_; // guards what follows
    uint64_t size_;
    Space space_;
};

} // namespace cd
