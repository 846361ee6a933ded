// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "cd/mpi_log.h"
#include "mpi_log/biased_lock.h"
#include "mpi_log/child_order.h"
#include "mpi_log/log_chunk.h"

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace cd {

class LogSpill;

// One chronological log. Nested CDs share it: each owns a suffix, which begins at the position that
// the CD remembers. Reading happens at the cursor, which is at the end except during a replay.
//
// CDs that live beside each other have a stream each. Such a stream belongs to the stream of their
// parent and stays there when the CD ends, for the CD that takes its place in a re-execution: it is
// known as Sibling says.
//
// Entries are written into chunks of warm pages, so appending allocates only once per chunk. With a
// LogSpill, which the streams of a family share, chunks may be in a file until they are read.
// Thread-safe. Only a root without descendants trims; a stream that keeps the newest
// entries drops others whenever one is appended. The thread whose CDs use the stream owns its lock.
class LogStream : public std::enable_shared_from_this<LogStream> {
public:
    using Chunk = LogChunk;

    // A place between two entries.
    struct Position {
        Chunk *chunk = nullptr;
        size_t offset = 0;
        uint64_t entries = 0; // before this place, since the stream began
        uint64_t bytes = 0;
        uint64_t lost = 0; // that were to be written before this place, and found no room
        bool operator==(const Position &other) const { return entries == other.entries; }
    };

    // Both as they are at one moment.
    struct Places {
        Position begin; // what lies before is not there any more
        Position cursor;
        Position end;

        uint64_t remaining() const { return end.entries - cursor.entries; }
    };

    // Which of several CDs beside each other. In which order the thread that made their parent and
    // other threads make them is chance, so the two kinds are counted apart.
    struct Sibling {
        int depth = 0;
        int index = 0;          // the smallest that no live one of its kind had
        bool elsewhere = false; // made by another thread than the parent
        auto operator<=>(const Sibling &) const = default;
    };

    // A root's: of a family of its own. spill may be null: then all stays in memory.
    explicit LogStream(std::shared_ptr<LogSpill> spill = nullptr) : spill_(std::move(spill)) {}
    // Nested in another one, where it is known as sibling.
    LogStream(LogStream &outer, Sibling sibling)
        : outer_(&outer), sibling_(sibling), family_(outer.family_),
          elsewhere_(outer.elsewhere_ || sibling.elsewhere), spill_(outer.spill_) {}
    LogStream(const LogStream &) = delete;
    LogStream &operator=(const LogStream &) = delete;
    ~LogStream();

    // The stream and those that are nested in it take nothing more, and hold nothing. For threads
    // that still refer to it.
    void close() noexcept;

    // The calling thread uses the stream from now on, and no more.
    void own() noexcept { lock_.own(); }
    void disown() noexcept { lock_.disown(); }

    // For fork: no entry is being written, here and in those that are nested in it, from a
    // successful try_to_pause() to resume(), which does nothing without one.
    [[nodiscard]] bool try_to_pause() noexcept;
    void resume() noexcept;

    // In the new process after a fork: other threads neither hold nor use it, nor those that are
    // nested in it.
    void keep_for_this_thread() noexcept;

    uint64_t id() const { return id_; }
    uint64_t family() const { return family_; }
    // Whether its CDs, or one of theirs, were made by another thread than their parent.
    bool elsewhere() const { return elsewhere_; }

    // What writes in place: room at the end for an entry of at least size bytes. On success the
    // stream is held until close(): others wait. False when there is no memory, or while replaying.
    [[nodiscard]] bool open(size_t size, cd_log_room &room) noexcept {
        lock_.lock();
        Record *record = takes_entries() ? reserve_room(size) : nullptr;
        if (record == nullptr) [[unlikely]] {
            end_.lost += takes_entries() ? 1 : 0;
            lock_.unlock();
            return false;
        }
        room = room_of(record);
        return true;
    }
    // An entry of length bytes, which its owner is to write at once, in a few steps; nowhere where
    // it takes more than these. The stream is held until *being_written is 0.
    [[nodiscard, gnu::always_inline]] cd_log_entry enter(size_t length) noexcept {
        if (!lock_.try_lock_as_owner()) [[unlikely]] {
            return {};
        }
        size_t needed = 0;
        Chunk *const last = last_;
        if (!takes_entries() || last == nullptr ||
            __builtin_add_overflow(sizeof(Record), length, &needed) || !last->has_room(needed))
            [[unlikely]] {
            lock_.unlock();
            return {};
        }
        auto *const record = reinterpret_cast<Record *>(last->at(last->used));
        account(last, length, aligned(needed));
        return {new (record) Record{length, nullptr} + 1, lock_.held_as_owner()};
    }
    // At least size bytes, the first used of which are those of the room so far. On failure that is
    // as it was, and the entry counts as lost.
    [[nodiscard]] bool widen(size_t used, size_t size, cd_log_room &room) noexcept;
    // The first length bytes of the room are an entry.
    void close_entry(size_t length, bool may_be_left = false) noexcept {
        auto *record = reinterpret_cast<Record *>(last_->at(last_->used));
        record->word = length | (may_be_left ? Record::may_be_left : 0);
        account(last_, length, sizeof(Record) + aligned(length));
        lock_.unlock();
    }
    // They are nothing.
    void abandon() noexcept { lock_.unlock(); }
    // An entry that was to be written counts as lost.
    void miss() noexcept;
    // Where the entry goes that is being written.
    Position open_at() const { return end_; }

    // The entry, or nullptr when there is no memory, or while replaying: check replaying() to tell.
    [[nodiscard]] void *append(const cd_log_part *parts, int count) noexcept;

    // Takes over a malloc'ed entry; on failure it stays the caller's.
    [[nodiscard]] bool adopt(void *entry, size_t length) noexcept;

    // The entry at the cursor, or nullptr at the end; moves the cursor. With a LogSpill the entry
    // stays there until the next call, and nullptr while replaying means that it could not be read.
    void *next(size_t &length) noexcept;

    // Why there was no room, or nothing could be read, if the reason is a file; otherwise ok.
    Status trouble() const;

    // How long the last entry was, of those since the last replay began, for which there was no
    // memory or no room in the file; 0: none.
    size_t refused() const { return refused_.load(std::memory_order_relaxed); }

    // How many entries behind position open() and widen() had no room for.
    uint64_t lost_since(const Position &position) const;

    // What the family's logs take in files.
    uint64_t bytes_in_files() const;

    // Undoes the last next(); nothing else has moved the cursor since.
    void unread() noexcept;

    // Copies the entry at position, which is where cursor() was or this has moved it to, and moves
    // it behind that. The replay stays as it is, as another thread may be in it. False at the end,
    // where the entry was forgotten meanwhile, or where it cannot be read. May throw
    // std::bad_alloc.
    [[nodiscard]] bool copy_next(Position &position, std::vector<std::byte> &entry);

    // The re-execution does something else than the entry at the cursor. Holds until a restore, or
    // until the cursor moves in another way.
    void stop() noexcept;
    bool stopped() const;

    // Where it stands how many streams of the process replay.
    static const int *replays_under_way() { return &replays_under_way_; }

    bool replaying() const { return replaying_.load(std::memory_order_relaxed); }
    // The number of the replay that is under way, counted from 1; 0 when none is.
    uint64_t replay() const;
    Position begin() const;
    Position cursor() const;
    Position end() const;
    Places places() const;
    // What is left of a replay is forgotten. Returns the end, behind which others may append at
    // once.
    Position skip_to_end() noexcept;
    // For a restore of a CD at depth.
    void rewind(const Position &position, int depth) noexcept;
    // The CD at depth has ended: what is left of a replay for it or for deeper ones waits for a
    // restore of a CD that is older than that, unless all of it may be left.
    void orphan(int depth) noexcept;
    uint64_t orphaned() const; // entries
    // How many entries a replay has left; 0 if a re-execution may leave all of them unread.
    uint64_t left() noexcept;
    // A CD that has the stream to itself begins at the cursor, or behind entries there that may be
    // left. False in a replay if none did so before: then who was there last has left others
    // unread. May throw std::bad_alloc.
    [[nodiscard]] bool take_resident();
    // From now on the stream counts as used anew as soon as something is added.
    void mark_end() noexcept;
    bool grown_since_mark() const; // also when it was made since
    // Whether a CD at depth or above is re-executed, of what replays now.
    bool replaying_for(int depth) const;

    // Frees the entries before position.
    void trim(const Position &position) noexcept;

    // Of a stream that nobody restores: from now on the newest entries are kept, in chunks, of
    // which the oldest goes when they would have more than bytes together.
    // 0: all are kept from now on.
    void keep_newest(uint64_t bytes) noexcept;

    // How many entries, counted from when the stream began, are not there any more because newer
    // ones are. Without the lock.
    uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

    // The stream of the CDs that are known as sibling, or nullptr.
    std::shared_ptr<LogStream> find_nested(Sibling sibling);

    // The same, made if there is none. May throw std::bad_alloc.
    std::shared_ptr<LogStream> nested(Sibling sibling);

    // Calls visit for every stream that is nested in this one, however deeply, and belongs to CDs
    // deeper than depth.
    template <typename Visit> void for_each_nested(int depth, const Visit &visit) {
        for (LogStream *at = next_nested(*this, depth); at != nullptr;
             at = next_nested(*at, depth)) {
            visit(at->sibling_, *at);
        }
    }

    // The order in which those CDs that write here make their children at depth has room for one.
    // Returns how far untold ones reach. May throw std::bad_alloc.
    uint64_t make_room_in_order(int depth) {
        const std::scoped_lock lock(nested_mutex_);
        ChildOrder &order = orders_[depth];
        order.reserve_room();
        return order.untold_ahead();
    }

    // Calls use with that order if there is one.
    template <typename Use> void with_order(int depth, const Use &use) {
        const std::scoped_lock lock(nested_mutex_);
        if (const auto found = orders_.find(depth); found != orders_.end()) {
            use(found->second);
        }
    }

    // Calls visit for the order of children deeper than depth, here only.
    template <typename Visit> void for_each_order(int depth, const Visit &visit) {
        const std::scoped_lock lock(nested_mutex_);
        for (auto at = orders_.upper_bound(depth); at != orders_.end(); ++at) {
            visit(at->second);
        }
    }

private:
    // No machine has that much memory, and sums with it do not overflow.
    static constexpr size_t longest_entry = SIZE_MAX / 4;

    static constexpr size_t record_alignment = 16;
    static size_t aligned(size_t size) {
        return (size + record_alignment - 1) / record_alignment * record_alignment;
    }

    // Precedes its payload, unless that is an adopted entry.
    struct alignas(record_alignment) Record {
        static constexpr size_t may_be_left = ~(SIZE_MAX / 2); // no length has that bit

        size_t word; // the length, and whether a re-execution may leave it unread
        void *adopted;

        size_t length() const { return word & ~may_be_left; }
        bool has_to_be_read() const { return (word & may_be_left) == 0; }
        void *payload() { return adopted != nullptr ? adopted : this + 1; }
        size_t size_in_chunk() const {
            return sizeof(Record) + (adopted != nullptr ? 0 : aligned(length()));
        }
    };

    bool pause_alone() noexcept;
    void resume_alone() noexcept;
    bool takes_entries() const { return !closed_ && !replaying(); }
    const Position &place() const { return replaying() ? cursor_ : end_; }
    // The caller accounts for the record once it is written.
    Record *reserve_room(size_t payload) noexcept {
        Record *record = find_room(payload);
        if (record == nullptr) [[unlikely]] {
            refused_.store(payload, std::memory_order_relaxed);
        }
        return record;
    }
    Record *find_room(size_t payload) noexcept {
        const size_t needed = sizeof(Record) + payload;
        if (payload > longest_entry ||
            ((last_ == nullptr || !last_->has_room(needed)) && !add_chunk(needed))) [[unlikely]] {
            return nullptr;
        }
        return new (last_->at(last_->used)) Record{0, nullptr};
    }
    LogStream *first_nested(const Sibling &from) noexcept;
    LogStream *next_nested(LogStream &after, int depth) noexcept;
    void end_nested() noexcept;
    void close_alone() noexcept;
    void move_cursor(const Position &position) noexcept;
    static constexpr uint64_t nowhere = UINT64_MAX;
    bool add_chunk(size_t needed) noexcept;
    void drop_oldest(size_t room) noexcept;
    Chunk *make_chunk(size_t needed) noexcept;
    size_t next_chunk() const noexcept;
    size_t size_of_chunk(size_t needed) const noexcept;
    void discard(Chunk *chunk) noexcept;
    void complete_chunks() noexcept;
    bool hold(Chunk &chunk) noexcept;
    void give_back_unused(Chunk *chunk) noexcept;
    cd_log_room room_of(Record *record) const {
        return {record + 1, last_->size - last_->used - sizeof(Record)};
    }
    Position at_record(Position position) const;
    Record &step(Position &position) const;
    void account(Chunk *last, size_t length, size_t record_size) noexcept {
        const size_t used = last->used + record_size;
        last->used = used;
        end_ = {last, used, end_.entries + 1, end_.bytes + length, end_.lost};
    }
    void cursor_moved() { set_replaying(!(cursor_ == end_)); }
    void set_replaying(bool replaying) {
        if (replaying_.load(std::memory_order_relaxed) != replaying) {
            replaying_.store(replaying, std::memory_order_relaxed);
            std::atomic_ref(replays_under_way_).fetch_add(replaying ? 1 : -1);
        }
    }
    void forget_before(const Position &position) noexcept;
    void free_chunks_before(const Chunk *last) noexcept;

    static constexpr int nobody = INT_MAX;
    bool is_orphaned() const { return replaying() && restored_ == nobody; }
    bool passes(Position &position, uint64_t until) noexcept;

    static inline std::atomic<uint64_t> streams_ = 0;
    static inline int replays_under_way_ = 0; // an atomic, to be read from C

    LogStream *const outer_ = nullptr; // lives as long as it has this one
    const Sibling sibling_;
    const uint64_t id_ = ++streams_;
    const uint64_t family_ = id_;
    const bool elsewhere_ = false;
    const std::shared_ptr<LogSpill> spill_;
    mutable BiasedLock lock_;
    std::atomic<bool> replaying_ = false; // the cursor is not at the end
    bool closed_ = false;
    bool paused_ = false;
    Chunk *first_ = nullptr;
    Chunk *last_ = nullptr;
    Chunk *growing_ = nullptr; // the first that the spill does not have; nullptr: that is first_
    Chunk *held_ = nullptr;    // where the entry lies that was read last
    Position begin_;
    Position end_;
    Position cursor_;    // in a replay; else it is at the end, wherever that moves
    Position read_from_; // the cursor before the last next()
    std::atomic<uint64_t> stopped_at_ = nowhere;
    uint64_t replays_ = 0;            // begun so far
    uint64_t marked_ = 0;             // entries before the mark
    std::vector<uint64_t> residents_; // how many entries came before each CD that had it to itself
    int restored_ = 0;   // the least depth of the CDs whose restores the replay is for, or nobody
    size_t adopted_ = 0; // entries that have to be freed one by one
    uint64_t kept_ = 0;  // bytes, of a stream that keeps the newest only
    std::atomic<uint64_t> dropped_ = 0;
    std::atomic<size_t> refused_ = 0;
    std::mutex nested_mutex_; // CDs of different depths share the stream and add siblings to it
    std::map<Sibling, std::shared_ptr<LogStream>> nested_;
    std::map<int, ChildOrder> orders_; // by the children's depth
};

} // namespace cd
