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
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>

namespace cd {

// Keeps the memory of a family's logs below a limit: chunks that nothing is written into any more
// go to a file in the background, oldest first, and come back to be read.
//
// Some chunks have to be in memory whatever the limit says: those that are being written, and in a
// replay the one that is read. So a limit of a few chunks is exceeded by as much.
//
// Thread-safe. Each chunk belongs to one log, which does one thing with it at a time.
class LogSpill {
public:
    // directory: as for SpillFile.
    LogSpill(uint64_t limit, std::string directory);
    LogSpill(const LogSpill &) = delete;
    LogSpill &operator=(const LogSpill &) = delete;
    ~LogSpill() { stop(); }

    // So small that several fit into the limit.
    size_t chunk_size() const { return chunk_size_; }

    // A chunk of at least size bytes. Waits until what is there has made room for it. nullptr if
    // there is no memory, or if what has to make room cannot be written: trouble() tells.
    LogChunk *make(size_t size) noexcept;

    // Nothing in the chunk changes any more. It is not used without hold() from now on.
    void complete(LogChunk &chunk) noexcept;

    // The chunk's records are in memory until release(); ahead is to be read next, or nullptr.
    // False if they cannot be read from the file: trouble() tells.
    bool hold(LogChunk &chunk, LogChunk *ahead) noexcept;
    void release(LogChunk &chunk) noexcept;

    // The log does not need the chunk any more, held or not.
    void discard(LogChunk *chunk) noexcept;

    // When there are no chunks and will be none: ends the thread in the background.
    void stop() noexcept;

    // Why the last chunk could not be made or held, if the reason is the file; otherwise ok.
    Status trouble() const;

    // What the family's logs take in files.
    uint64_t bytes_in_files() const { return in_files_.load(std::memory_order_relaxed); }

    // For fork: nothing is under way from a successful try_to_pause() to resume(), which does
    // nothing without it.
    bool try_to_pause() noexcept;
    void resume() noexcept;
    // Meanwhile, in both processes: neither writes where the other one may read.
    void part_from_copy() noexcept;
    // ... and in the new one, whose other threads are gone.
    void forget_other_threads() noexcept;

private:
    // A file, and what of it is in use. It is written from the start again when nothing is.
    struct Medium {
        explicit Medium(const std::string &directory) : file(directory) {}
        SpillFile file;
        uint64_t tail = 0;
        uint64_t in_use = 0;
    };

    using Hook = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    struct Chunk : LogChunk, Hook {
        bool complete = false;
        bool busy = false;      // being written or read
        bool discarded = false; // ... after which it ends
        int holds = 0;
        std::shared_ptr<Medium> medium; // once it is in a file
        SpillFile::Extent extent;
    };

    using List = boost::intrusive::list<Chunk, boost::intrusive::constant_time_size<false>>;
    using Lock = std::unique_lock<std::mutex>;

    // Two of the largest chunks have room to be read.
    uint64_t for_writing() const { return limit_ > 2 * largest_ ? limit_ - 2 * largest_ : 0; }
    bool should_write() const;

    bool reserve_room(Lock &lock, size_t size) noexcept;
    void drop_copied(size_t size, uint64_t allowed) noexcept;
    void drop_pages(Chunk &chunk) noexcept;
    void enlist(Chunk &chunk) noexcept;
    void write_oldest(Lock &lock) noexcept;
    bool load(Lock &lock, Chunk &chunk) noexcept;
    void load_ahead(Lock &lock) noexcept;
    void begin_work_on(Chunk &chunk) noexcept;
    void end_work_on(Chunk &chunk) noexcept;
    void destroy(Chunk &chunk) noexcept;
    void note_trouble() noexcept;

    bool wake_worker() noexcept; // false if there can be none
    void work() noexcept;

    const uint64_t limit_;
    const std::string directory_;
    const size_t chunk_size_;

    mutable std::mutex mutex_; // guards all that follows
    std::condition_variable wake_;
    std::condition_variable done_;
    List unwritten_;                 // complete, in memory only, not held; the oldest first
    List copied_;                    // complete, in memory and in a file, not held
    std::shared_ptr<Medium> medium_; // where the next chunk goes
    Chunk *ahead_ = nullptr;         // to be read before somebody waits for it
    uint64_t in_memory_ = 0;
    uint64_t wanted_ = 0; // by those who wait
    uint64_t largest_ = 0;
    uint64_t failed_writes_ = 0;
    bool refused_ = false; // the last write failed: there is no other before somebody needs it
    bool writing_ = false;
    int under_way_ = 0; // chunks that are busy
    bool has_worker_ = false;
    bool ending_ = false;
    bool paused_ = false;
    pthread_t worker_ = {};
    char trouble_[1024] = ""; // a message has room for as much
    std::atomic<uint64_t> in_files_ = 0;
};

} // namespace cd
