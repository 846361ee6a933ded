// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/direct_file.h"
#include "file_store/file.h"
#include "file_store/group_sync.h"
#include "file_store/space.h"
#include "file_store/superblock.h"
#include "file_store/usage.h"
#include "os/system.h"

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace cd {

// A store file as room for things: who needs some takes an extent, and gives it back. Thread-safe.
class Volume {
public:
    // size: of the file; all of it counts as taken.
    Volume(File file, uint64_t size);
    Volume(const Volume &) = delete;
    Volume &operator=(const Volume &) = delete;
    ~Volume();

    File &file() { return file_; }
    GroupSync &forcing() { return forcing_; }

    // Where an extent that was reserved can be written without a system call, or nullptr: in files
    // that live in memory. check_whole() goes first.
    std::byte *in_place(const Extent &extent) const;

    // From now on large writes may go past the page cache, which nobody reads soon. Before others
    // use the volume.
    void write_past_cache() { direct_.emplace(file_); }
    // nullptr: they do not.
    const DirectFile *direct() const { return direct_ ? &*direct_ : nullptr; }

    // That the descriptor still is the file's, and the file as long as it was. Before an operation
    // writes data: a program may have closed all descriptors that it does not know, and opened
    // files of its own.
    Status check_file();
    // The descriptor alone, before an operation reads data.
    Status check_descriptors() const;
    bool has_its_descriptors() const noexcept;

    // Whoever cuts a file that is written in place would end this process, and so would a file that
    // came with holes once there is no room to fill them.
    Status check_whole();

    // At least length bytes, which lie in the file already: writing them cannot run out of room.
    // Lets the file grow if it has to. May throw std::bad_alloc.
    Status reserve(uint64_t length, Extent &extent);
    void release(const Extent &extent) noexcept;
    // The same, but the file stays as long as it is: false if there is no such room in it.
    bool reserve_inside(uint64_t length, Extent &extent);

    // The same where several extents do, all but the last of whole blocks: the file grows only by
    // what is free nowhere. May throw std::bad_alloc.
    using Extents = absl::InlinedVector<Extent, 1>;
    Status reserve_parts(uint64_t length, Extents &extents);

    // Of what lies in it.
    Usage &usage() { return usage_; }
    const Usage &usage() const { return usage_; }

    // When a file was opened: these lie in it, by offset, and from begin on the rest is free.
    // May throw std::bad_alloc.
    void only_these_are_taken(uint64_t begin, const std::vector<Extent> &extents);

    // In a process that was forked: the file is the other one's, and can be read here, unless its
    // descriptor is the program's own by now. What cannot be done keeps the file locked for as long
    // as this process lives.
    void leave_to_parent() noexcept;

private:
    Status grow(uint64_t length);
    Status take_parts(uint64_t length, Extents &extents);

    Status check_descriptors(uint64_t &size) const;
    Status check_size(uint64_t size) const;

    File file_;
    GroupSync forcing_{file_};
    std::optional<DirectFile> direct_;
    Usage usage_;
    std::byte *window_; // the file in memory, or nullptr
    std::mutex mutex_;  // guards what follows
    uint64_t size_;
    bool filled_ = false; // no holes are in what the file had
    Space space_;
};

} // namespace cd
