// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "mpi_log/log.h"
#include "mpi_log/spill_file.h"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace cd {

// Keeps the memory of a family's logs below a limit. Whoever needs a chunk beyond it first moves
// complete ones to a file, the oldest first; they come back to be read. Chunks that are written or
// read stay in memory, so a limit of a few chunks is exceeded.
//
// Thread-safe. Each chunk belongs to one log, which does one thing with it at a time.
class LogSpill {
public:
    // directory: as for SpillFile.
    LogSpill(uint64_t limit, std::string directory);
    LogSpill(const LogSpill &) = delete;
    LogSpill &operator=(const LogSpill &) = delete;

    // Returns a size of which several fit into the limit.
    size_t chunk_size() const { return chunk_size_; }

    // Makes a chunk of at least size bytes, once other chunks have made room for it. Returns
    // nullptr without memory, or if those cannot be written; trouble() returns the reason.
    LogChunk *make(size_t size) noexcept;

    // Allows the chunk to be written to the file. From now on it is used between hold() and
    // release() only.
    void complete(LogChunk &chunk) noexcept;

    // Brings the chunk into memory until release(). False if it cannot be read; trouble() returns
    // the reason.
    bool hold(LogChunk &chunk) noexcept;
    void release(LogChunk &chunk) noexcept;

    // Frees the chunk, held or not.
    void discard(LogChunk *chunk) noexcept;

    // Returns the failure of the file because of which the last chunk was not made or held.
    Status trouble() const;

    // Returns how many bytes the family's logs take in files.
    uint64_t bytes_in_files() const { return in_files_.load(std::memory_order_relaxed); }

private:
    using Hook = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    struct Chunk : LogChunk, Hook {
        bool complete = false;
        bool busy = false;      // being written or read
        bool discarded = false; // freed once it is not busy
        int holds = 0;
        bool stored = false; // is in the file, at extent
        SpillFile::Extent extent;
    };

    using List = boost::intrusive::list<Chunk, boost::intrusive::constant_time_size<false>>;
    using Lock = std::unique_lock<std::mutex>;

    // Leaves room to read two of the largest chunks.
    uint64_t for_writing() const { return limit_ > 2 * largest_ ? limit_ - 2 * largest_ : 0; }

    bool reserve_room(Lock &lock, size_t size) noexcept;
    void drop_copied(size_t size, uint64_t allowed) noexcept;
    void drop_pages(Chunk &chunk) noexcept;
    void enlist(Chunk &chunk) noexcept;
    void write_oldest(Lock &lock) noexcept;
    bool load(Lock &lock, Chunk &chunk) noexcept;
    void begin_work_on(Chunk &chunk) noexcept;
    void end_work_on(Chunk &chunk) noexcept;
    void destroy(Chunk &chunk) noexcept;
    void note_trouble() noexcept;

    const uint64_t limit_;
    const size_t chunk_size_;

    mutable std::mutex mutex_; // guards all that follows
    std::condition_variable done_;
    List unwritten_; // complete, in memory only, not held; the oldest first
    List copied_;    // complete, in memory and in a file, not held
    SpillFile file_;
    uint64_t tail_ = 0; // of the file, which is written from the start again once it has no chunk
    uint64_t in_memory_ = 0;
    uint64_t largest_ = 0;
    uint64_t failed_writes_ = 0;
    bool writing_ = false;
    char trouble_[1024] = ""; // a message has room for as much
    std::atomic<uint64_t> in_files_ = 0;
};

} // namespace cd
