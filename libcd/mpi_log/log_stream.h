// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace cd {

// One chronological log. Nested CDs share it: each owns a suffix, which begins at the position that
// the CD remembers. Reading happens at the cursor, which is at the end except during a replay.
//
// CDs that live beside each other have a stream each. Such a stream belongs to the stream of their
// parent and stays there when the CD ends, for the CD that takes its place in a re-execution: it is
// known by the CD's depth and sibling index.
//
// Entries are copied into chunks of warm pages, so appending allocates only once per chunk.
// Thread-safe, except that only a root without descendants trims.
class LogStream {
public:
    struct Chunk;

    // A place between two entries.
    struct Position {
        Chunk *chunk = nullptr;
        size_t offset = 0;
        uint64_t entries = 0; // before this place, since the stream began
        uint64_t bytes = 0;
        bool operator==(const Position &other) const { return entries == other.entries; }
    };

    struct Sibling {
        int depth = 0;
        int index = 0;
        auto operator<=>(const Sibling &) const = default;
    };

    LogStream() = default;
    LogStream(const LogStream &) = delete;
    LogStream &operator=(const LogStream &) = delete;
    ~LogStream();

    // False when there is no memory, or while replaying: check replaying() to tell.
    [[nodiscard]] bool append(const cd_log_part *parts, int count) noexcept;

    // Takes over a malloc'ed entry; on failure it stays the caller's.
    [[nodiscard]] bool adopt(void *entry, size_t length) noexcept;

    // The entry at the cursor, or nullptr at the end; moves the cursor.
    void *next(size_t &length) noexcept;

    bool replaying() const { return cursor() != end(); }
    Position begin() const { return begin_; }
    Position cursor() const;
    Position end() const;
    void set_cursor(const Position &position);

    // Frees the entries before position.
    void trim(const Position &position) noexcept;

    // The stream of the CDs that are known as sibling, or nullptr.
    LogStream *find_nested(Sibling sibling);

    // The same, made if there is none. May throw std::bad_alloc.
    LogStream &nested(Sibling sibling);

    // Calls visit for every stream that is nested in this one, however deeply, and belongs to CDs
    // deeper than depth.
    template <typename Visit> void for_each_nested(int depth, const Visit &visit) {
        const std::scoped_lock lock(nested_mutex_);
        for (auto &[sibling, stream] : nested_) {
            if (sibling.depth > depth) {
                visit(sibling, *stream);
                stream->for_each_nested(depth, visit);
            }
        }
    }

private:
    struct Record;

    // Held for a few instructions at a time, by parent and child in different threads at worst.
    class SpinLock {
    public:
        void lock();
        void unlock() { taken_.store(false, std::memory_order_release); }

    private:
        std::atomic<bool> taken_ = false;
    };

    static const size_t first_record; // where a chunk's records begin

    Record *make_room(size_t payload) noexcept;
    Record &step(Position &position) const;
    void account(size_t length, size_t record_size) noexcept;
    void free_chunks_before(const Chunk *last) noexcept;

    mutable SpinLock lock_;
    Chunk *first_ = nullptr;
    Chunk *last_ = nullptr;
    Position begin_;
    Position end_;
    Position cursor_;
    size_t adopted_ = 0;      // entries that have to be freed one by one
    std::mutex nested_mutex_; // CDs of different depths share the stream and add siblings to it
    std::map<Sibling, std::unique_ptr<LogStream>> nested_;
};

} // namespace cd
