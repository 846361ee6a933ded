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

// The free bytes of a store file. Neighbours join, and the smallest stretch that is large enough is
// taken: data that are written again in the same sizes stay in the same places. Not thread-safe.
// Functions that take may throw std::bad_alloc.
class Space {
public:
    // Rounds up: small data lie close together, data of a block and more get their own blocks.
    static uint64_t rounded(uint64_t length);

    // Adds free bytes at the end of the file.
    void add(uint64_t offset, uint64_t length);

    // Takes `length` bytes (rounded) and returns their offset, or nothing if there are none.
    std::optional<uint64_t> take(uint64_t length);

    // Takes a part of `length` if that is not free as a whole: the smallest stretch of blocks that
    // is at least a 64th of it, or else the largest.
    std::optional<Extent> take_part(uint64_t length);

    // Gives back what was taken. Without memory to note it, the bytes are lost until the file is
    // opened again.
    void give(const Extent &extent) noexcept;

private:
    using Lengths = std::set<std::pair<uint64_t, uint64_t>>; // with the offset

    void insert(uint64_t offset, uint64_t length);
    void erase(std::map<uint64_t, uint64_t>::iterator at);
    void take_from(Lengths::iterator stretch, uint64_t offset, uint64_t length);

    std::map<uint64_t, uint64_t> by_offset_; // to length
    Lengths by_length_;
};

// Counts the used bytes of the places for data. The other bytes of a used place are wasted: a place
// is free again only as a whole. Thread-safe.
class Usage {
public:
    // True if so much is wasted that data should be copied. docs/inside/format-store.md bounds the
    // size of the file with it.
    static bool is_much(uint64_t wasted, uint64_t used) { return wasted > used / 16; }

    // Notes that a place of `size` has `after` used bytes instead of `before`.
    void change(uint64_t size, uint64_t before, uint64_t after) noexcept {
        used_.fetch_add(after - before, std::memory_order_relaxed);
        if (const uint64_t more = waste(size, after) - waste(size, before); more != 0) {
            wasted_.fetch_add(more, std::memory_order_relaxed);
        }
    }

    uint64_t wasted() const noexcept { return wasted_; }
    // True if much more is wasted than `accepted`, which is lowered to what is wasted now.
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

// A store file that hands out extents and takes them back. Thread-safe.
class Volume {
public:
    // size: of the file, all of which counts as taken.
    Volume(File file, uint64_t size);
    Volume(const Volume &) = delete;
    Volume &operator=(const Volume &) = delete;
    ~Volume();

    File &file() { return file_; }
    GroupSync &forcing() { return forcing_; }

    // Returns where a reserved extent lies in memory, or nullptr if the file is not there. Call
    // check_whole() before writing.
    std::byte *in_place(const Extent &extent) const;

    // Lets large writes pass by the page cache. Call before others use the volume.
    void write_past_cache() { direct_.emplace(file_); }
    // Returns nullptr if no writes pass by the cache.
    const DirectFile *direct() const { return direct_ ? &*direct_ : nullptr; }

    // Fails if the program has closed its descriptors, or the file was cut. Call before an
    // operation reads or writes data.
    Status check_file();

    // Fails if the file was cut, and fills its holes: writing there in place would end the process.
    Status check_whole();

    // Reserves at least `length` bytes; the file grows if needed, so that writing them cannot run
    // out of room. May throw std::bad_alloc.
    Status reserve(uint64_t length, Extent &extent);
    void release(const Extent &extent) noexcept;
    // Reserves `length` bytes in one or more extents, all but the last of whole blocks. The file
    // grows only by what is free nowhere. May throw std::bad_alloc.
    using Extents = absl::InlinedVector<Extent, 1>;
    Status reserve_parts(uint64_t length, Extents &extents);

    Usage &usage() { return usage_; }
    const Usage &usage() const { return usage_; }

    // Frees everything from `begin` on but `extents`, which are sorted by offset. Call once, after
    // the file was opened. May throw std::bad_alloc.
    void only_these_are_taken(uint64_t begin, const std::vector<Extent> &extents);

    // Opens the file anew in a forked process, for reading: the lock stays the parent's alone.
    void leave_to_parent() noexcept;
    bool is_of_this_process() const { return os::system().process() == process_; }

private:
    Status grow(uint64_t length);
    Status take_parts(uint64_t length, Extents &extents);
    std::optional<Extent> take_part(uint64_t length);
    Status check_size();

    File file_;
    GroupSync forcing_{file_};
    std::optional<DirectFile> direct_;
    Usage usage_;
    std::byte *window_; // the file in memory, or nullptr
    pid_t process_ = os::system().process();
    std::mutex mutex_; // guards what follows
    uint64_t size_;
    bool filled_ = false; // the file has no holes
    Space space_;
};

} // namespace cd
