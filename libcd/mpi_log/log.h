// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "cd/mpi_log.h"
#include "mpi_log/biased_lock.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace cd {

class LogSpill;

// A run of a log's records, and the pages that hold them. Positions in the log refer to the chunk,
// so it keeps its address when its pages go to a file and come back.
struct LogChunk {
    LogChunk *next = nullptr;
    std::byte *pages = nullptr;  // nullptr while they are in a file only
    size_t size = 0;             // of the pages
    size_t used = 0;             // where the next record goes
    uint64_t entries_before = 0; // of the log, when the chunk was made
    uint64_t bytes_before = 0;

    bool has_room(size_t record) const { return size - used >= record; }
    std::byte *at(size_t offset) { return pages + offset; }
};

// An append-only log with a replay cursor. Nested CDs share a log: each owns a suffix, which begins
// at the position that the CD remembers. The cursor is at the end except during a replay.
//
// Concurrent siblings have a log each. Such a log belongs to the log of their parent and outlives
// the CD: the CD that takes its place in a re-execution finds it by its Sibling.
//
// Entries are written into chunks of warm pages, so appending allocates once per chunk. With a
// LogSpill, which the logs of a family share, chunks may be in a file until they are read.
// Thread-safe. The thread whose CDs use the log owns its lock. Only a root without descendants
// trims; a log that keeps the newest entries drops old ones when it appends.
class Log {
public:
    // A place between two entries.
    struct Position {
        LogChunk *chunk = nullptr;
        size_t offset = 0;
        uint64_t entries = 0; // before this place, since the log began
        uint64_t bytes = 0;
        uint64_t lost = 0; // entries before this place that found no room
        bool operator==(const Position &other) const { return entries == other.entries; }
    };

    // The positions at one moment.
    struct Places {
        Position begin; // the first entry that is still there
        Position cursor;
        Position end;

        uint64_t remaining() const { return end.entries - cursor.entries; }
    };

    // Names one of several concurrent siblings. The order of creation between the parent's creator
    // thread and other threads is chance, so the two kinds are numbered apart.
    struct Sibling {
        int depth = 0;
        int index = 0;             // the smallest that no live sibling of its kind had
        bool other_thread = false; // created by another thread than the parent
        auto operator<=>(const Sibling &) const = default;
    };

    // Makes the log of a root. Without spill all entries stay in memory.
    explicit Log(std::shared_ptr<LogSpill> spill = nullptr) : spill_(std::move(spill)) {}
    // Makes a log that is nested in outer.
    Log(Log &outer, Sibling sibling)
        : outer_(&outer), sibling_(sibling), family_(outer.family_), spill_(outer.spill_) {}
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;
    ~Log();

    // Frees all entries here and in nested logs, which then refuse new ones. For threads that still
    // hold a reference.
    void close() noexcept;

    // Makes the calling thread the one that appends without atomic operations.
    void own() noexcept { lock_.own(); }
    void disown() noexcept { lock_.disown(); }

    uint64_t id() const { return id_; }
    uint64_t family() const { return family_; }

    // Opens room for an entry of at least size bytes at the end. On success the log stays locked
    // until close_entry() or abandon(). False without memory, or during a replay.
    [[nodiscard]] bool open(size_t size, cd_log_room &room) noexcept {
        lock_.lock();
        Record *record = takes_entries() ? find_room(size) : nullptr;
        if (record == nullptr) [[unlikely]] {
            end_.lost += takes_entries() ? 1 : 0;
            lock_.unlock();
            return false;
        }
        room = room_of(record);
        return true;
    }
    // Appends an entry of length bytes, which the owner of the log writes at once. The log stays
    // locked until *being_written is 0. Fails with a null address unless a few steps suffice.
    [[nodiscard, gnu::always_inline]] cd_log_entry enter(size_t length) noexcept {
        if (!lock_.try_lock_as_owner()) [[unlikely]] {
            return {};
        }
        size_t needed = 0;
        LogChunk *const last = last_;
        if (!takes_entries() || last == nullptr ||
            __builtin_add_overflow(sizeof(Record), length, &needed) || !last->has_room(needed))
            [[unlikely]] {
            lock_.unlock();
            return {};
        }
        auto *const record = reinterpret_cast<Record *>(last->at(last->used));
        account(last, length, aligned(needed));
        return {new (record) Record{length} + 1, lock_.held_as_owner()};
    }
    // Enlarges the open entry's room to at least size bytes and keeps its first used bytes. On
    // failure the room is unchanged and the entry counts as lost.
    [[nodiscard]] bool widen(size_t used, size_t size, cd_log_room &room) noexcept;
    // Makes the first length bytes of the room an entry. A re-execution may leave an optional entry
    // unread.
    void close_entry(size_t length, bool optional = false) noexcept {
        reinterpret_cast<Record *>(last_->at(last_->used))->length = length;
        if (optional) {
            optional_from_ = optional_until_ == end_.entries ? optional_from_ : end_.entries;
            optional_until_ = end_.entries + 1;
        }
        account(last_, length, sizeof(Record) + aligned(length));
        lock_.unlock();
    }
    // Drops the open entry.
    void abandon() noexcept { lock_.unlock(); }
    // Counts an entry that could not be written as lost.
    void miss() noexcept;
    // Returns where the open entry lies.
    Position open_at() const { return end_; }

    // Appends one entry. False without memory or during a replay.
    [[nodiscard]] bool append(const cd_log_part *parts, int count) noexcept;

    // Returns the entry at the cursor and moves the cursor, or nullptr at the end. With a LogSpill
    // the entry stays in memory until the next call; nullptr during a replay means that it could
    // not be read.
    void *next(size_t &length) noexcept;

    // Takes back the last next(), if the cursor has not moved otherwise.
    void unread() noexcept;

    // Returns the failure of the spill file that lost or withheld an entry; ok if there was none.
    Status trouble() const;

    // Returns how many entries behind position found no room.
    uint64_t lost_since(const Position &position) const;

    // Returns how many bytes the family's logs take in files.
    uint64_t bytes_in_files() const;

    // Ends the answers of the log: the re-execution does something else than the entry at the
    // cursor. Holds until the cursor moves.
    void stop() noexcept;
    bool stopped() const;

    // Points to the number of logs of the process that replay.
    static const int *replays_under_way() { return &replays_under_way_; }

    bool replaying() const { return replaying_.load(std::memory_order_relaxed); }
    // True if the replay under way is for a CD at depth or an ancestor of it.
    bool replaying_for(int depth) const;
    // Returns how many entries a replay has left; 0 if all of them are optional.
    uint64_t left() const noexcept;

    Places places() const;
    Position begin() const { return places().begin; }
    Position cursor() const { return places().cursor; }
    Position end() const { return places().end; }

    // Ends a replay. Returns the end; others may append behind it at once.
    Position skip_to_end() noexcept;
    // Begins a replay at position, for a CD at depth.
    void rewind(const Position &position, int depth) noexcept;
    // Ends a replay that is for a CD at depth or deeper: that CD has ended.
    void end_replay_of(int depth) noexcept;

    // Frees the entries before position.
    void trim(const Position &position) noexcept;

    // Keeps the newest entries only, of a log that nobody restores: the oldest chunk goes when the
    // chunks would exceed bytes. 0: keeps all from now on.
    void keep_newest(uint64_t bytes) noexcept;

    // Returns how many entries, counted from the beginning of the log, keep_newest() has dropped.
    // Takes no lock.
    uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

    // Returns the log nested here as sibling, or nullptr.
    std::shared_ptr<Log> find_nested(Sibling sibling);
    // Returns it, and makes it if there is none. May throw std::bad_alloc.
    std::shared_ptr<Log> nested(Sibling sibling);

    // Calls visit(sibling, log) for every log nested in this one, at any level, whose CDs are
    // deeper than depth.
    template <typename Visit> void for_each_nested(int depth, const Visit &visit) {
        for (Log *at = next_nested(*this, depth); at != nullptr; at = next_nested(*at, depth)) {
            visit(at->sibling_, *at);
        }
    }

private:
    // No machine has that much memory, and sums with it do not overflow.
    static constexpr size_t longest_entry = SIZE_MAX / 4;

    static constexpr size_t record_alignment = 16;
    static size_t aligned(size_t size) {
        return (size + record_alignment - 1) / record_alignment * record_alignment;
    }

    // Precedes its payload.
    struct alignas(record_alignment) Record {
        size_t length;
    };

    bool takes_entries() const { return !closed_ && !replaying(); }
    // Finds room for a record behind the end; account() makes it an entry.
    Record *find_room(size_t payload) noexcept {
        const size_t needed = sizeof(Record) + payload;
        if (payload > longest_entry ||
            ((last_ == nullptr || !last_->has_room(needed)) && !add_chunk(needed))) [[unlikely]] {
            return nullptr;
        }
        return new (last_->at(last_->used)) Record{0};
    }
    void account(LogChunk *last, size_t length, size_t record_size) noexcept {
        const size_t used = last->used + record_size;
        last->used = used;
        end_ = {last, used, end_.entries + 1, end_.bytes + length, end_.lost};
    }
    cd_log_room room_of(Record *record) const {
        return {record + 1, last_->size - last_->used - sizeof(Record)};
    }
    void move_cursor(const Position &position) noexcept;
    void cursor_moved() {
        const bool now = !(cursor_ == end_);
        if (replaying() != now) {
            replaying_.store(now, std::memory_order_relaxed);
            std::atomic_ref(replays_under_way_).fetch_add(now ? 1 : -1);
        }
    }

    Log *first_nested(const Sibling &from) noexcept;
    Log *next_nested(Log &after, int depth) noexcept;
    void end_nested() noexcept;
    void close_alone() noexcept;

    bool add_chunk(size_t needed) noexcept;
    void drop_oldest(size_t room) noexcept;
    LogChunk *make_chunk(size_t needed) noexcept;
    size_t next_chunk() const noexcept;
    size_t size_of_chunk(size_t needed) const noexcept;
    void discard(LogChunk *chunk) noexcept;
    void complete_chunks() noexcept;
    bool hold(LogChunk &chunk) noexcept;
    void give_back_unused(LogChunk *chunk) noexcept;
    void forget_before(const Position &position) noexcept;
    void free_chunks_before(const LogChunk *last) noexcept;

    static constexpr uint64_t nowhere = UINT64_MAX;
    static inline std::atomic<uint64_t> logs_ = 0;
    static inline int replays_under_way_ = 0; // an atomic, read from C

    Log *const outer_ = nullptr; // outlives this log
    const Sibling sibling_;
    const uint64_t id_ = ++logs_;
    const uint64_t family_ = id_;
    const std::shared_ptr<LogSpill> spill_;
    mutable BiasedLock lock_;
    std::atomic<bool> replaying_ = false; // the cursor is not at the end
    bool closed_ = false;
    LogChunk *first_ = nullptr;
    LogChunk *last_ = nullptr;
    LogChunk *growing_ = nullptr; // the first that the spill does not have; nullptr: first_
    LogChunk *held_ = nullptr;    // holds the entry that was read last
    Position begin_;
    Position end_;
    Position cursor_;    // valid in a replay
    Position read_from_; // the cursor before the last next()
    std::atomic<uint64_t> stopped_at_ = nowhere;
    uint64_t optional_from_ = 0;  // the last run of optional entries
    uint64_t optional_until_ = 0; // ... and its end
    int restored_ = 0;            // the least depth of the CDs that the replay is for
    uint64_t kept_ = 0;           // bytes, of a log that keeps the newest entries only
    std::atomic<uint64_t> dropped_ = 0;
    std::mutex nested_mutex_; // CDs of different depths share the log and add siblings to it
    std::map<Sibling, std::shared_ptr<Log>> nested_;
};

} // namespace cd
