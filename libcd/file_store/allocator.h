// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/direct_io.h"
#include "file_store/file.h"
#include "file_store/group_sync.h"
#include "file_store/superblock.h"
#include "os/system.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cd {

// Which bytes of a store file are free. What is free joins its neighbours, and the smallest
// stretch that is large enough is taken, so that what is written again and again in the same sizes
// goes on in the same places. Not thread-safe. Functions that take may throw std::bad_alloc.
class Space {
public:
    // Small pieces of data lie close together; from a block on they have blocks of their own.
    static uint64_t rounded(uint64_t length);

    // The file has grown: these bytes are free.
    void add(uint64_t offset, uint64_t length);

    // Where length bytes (rounded) are free; they are taken. Nothing if there are none.
    std::optional<uint64_t> take(uint64_t length);

    // Takes blocks of a length that is not free as a whole, as many as there are in one place: in
    // the smallest that makes at least a 64th of it, or else the largest. Offset and length, or
    // nothing if no block is free.
    std::optional<std::pair<uint64_t, uint64_t>> take_part(uint64_t length);

    // Takes exactly these bytes; false if some of them are not free.
    bool take_at(uint64_t offset, uint64_t length);

    // What take() handed out, with the same length. If there is no memory to remember it, the
    // bytes are lost until the file is opened again.
    void give(uint64_t offset, uint64_t length) noexcept;

    uint64_t free() const { return free_; }

private:
    void insert(uint64_t offset, uint64_t length);
    void erase(std::map<uint64_t, uint64_t>::iterator at);

    std::map<uint64_t, uint64_t> by_offset_; // to length
    std::set<std::pair<uint64_t, uint64_t>> by_length_;
    uint64_t free_ = 0;
};

// How much of the places for data is used, in bytes. What is not, of a place of which something is,
// is wasted: a place is free again only as a whole. Thread-safe.
class Usage {
public:
    // Beside the data; docs/inside/format-store.md bounds the size with it.
    static bool is_much(uint64_t wasted, uint64_t used) { return wasted > used / 16; }

    // Of a place of this size more is used, or less.
    void change(uint64_t size, uint64_t before, uint64_t after) noexcept {
        used_.fetch_add(after - before, std::memory_order_relaxed);
        if (const uint64_t more = waste(size, after) - waste(size, before); more != 0) {
            wasted_.fetch_add(more, std::memory_order_relaxed);
        }
    }

    uint64_t wasted() const noexcept { return wasted_; }
    // Much more is wasted than was accepted, which becomes no more than what is.
    bool is_wasteful(uint64_t &accepted) const noexcept {
        const uint64_t wasted = wasted_;
        accepted = std::min(accepted, wasted);
        const uint64_t more = wasted - accepted;
        return more >= least && is_much(more, used_);
    }

    static uint64_t waste(uint64_t size, uint64_t used) {
        return used > 0 && used < size ? size - used : 0;
    }

private:
    static constexpr uint64_t least = 4096; // is worth the trouble

    std::atomic<uint64_t> used_ = 0;
    std::atomic<uint64_t> wasted_ = 0;
};

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
