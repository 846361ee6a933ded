// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log_stream.h"

#include "memory/page_pool.h"
#include "mpi_log/spill.h"
#include "os/memory_sizes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace cd {
namespace {

constexpr size_t usual_log_chunk = size_t{256} << 10;
constexpr size_t largest_log_chunk = size_t{8} << 20;

// Of a stream that keeps the newest entries.
constexpr size_t smallest_log_chunk = size_t{4} << 10;
constexpr size_t chunks_kept = 8;

} // namespace

LogStream::~LogStream() {
    set_replaying(false);
    forget_before(Position(end_));
    free_chunks_before(nullptr);
    end_nested();
}

// The innermost first, in one loop: streams are nested as deeply as CDs are, and threads have small
// stacks. One that a thread still refers to ends with those in it when that does not any more.
void LogStream::end_nested() noexcept {
    LogStream *at = this;
    while (at != this || !at->nested_.empty()) {
        if (at->nested_.empty()) {
            at = at->outer_;
        } else if (const auto next = at->nested_.begin();
                   next->second.use_count() > 1 || next->second->nested_.empty()) {
            at->nested_.erase(next);
        } else {
            at = next->second.get();
        }
    }
}

bool LogStream::add_chunk(size_t needed) noexcept {
    if (kept_ > 0) {
        drop_oldest(size_of_chunk(needed));
    }
    Chunk *chunk = make_chunk(needed);
    if (chunk == nullptr) {
        return false;
    }
    chunk->entries_before = end_.entries;
    chunk->bytes_before = end_.bytes;
    (last_ != nullptr ? last_->next : first_) = chunk;
    last_ = chunk;
    return true;
}

// Makes room for a chunk. What the end lies in stays, and so does what is being written behind it.
void LogStream::drop_oldest(size_t room) noexcept {
    uint64_t held = room;
    for (const Chunk *chunk = first_; chunk != nullptr; chunk = chunk->next) {
        held += chunk->size;
    }
    while (held > kept_ && first_ != end_.chunk && first_ != last_ && adopted_ == 0) {
        held -= first_->size;
        const Chunk *const oldest = first_->next;
        begin_ = {first_->next, 0, oldest->entries_before, oldest->bytes_before, end_.lost};
        dropped_.store(begin_.entries, std::memory_order_relaxed);
        free_chunks_before(oldest);
    }
}

// A long log takes as much again as it has, in huge pages: those are provided, and found by the
// processor, in a fraction of the time.
size_t LogStream::next_chunk() const noexcept {
    if (kept_ > 0) {
        return std::clamp<uint64_t>(kept_ / chunks_kept, smallest_log_chunk, largest_log_chunk);
    }
    return std::clamp<uint64_t>(end_.bytes - begin_.bytes, usual_log_chunk, largest_log_chunk);
}

// Without a LogSpill; the pool may have a larger one to hand out.
size_t LogStream::size_of_chunk(size_t needed) const noexcept {
    const size_t size = std::max(next_chunk(), needed);
    if (size > huge_page / 2 && size < 2 * huge_page) {
        return size > huge_page ? 2 * huge_page : huge_page;
    }
    return PagePool::rounded(size);
}

LogStream::Chunk *LogStream::make_chunk(size_t needed) noexcept {
    if (spill_ != nullptr) {
        complete_chunks();
        return spill_->make(std::max(spill_->chunk_size(), needed));
    }
    size_t size = size_of_chunk(needed);
    auto *chunk = new (std::nothrow) Chunk;
    if (chunk != nullptr) {
        chunk->pages = static_cast<std::byte *>(PagePool::instance().take(size));
        chunk->size = size;
    }
    if (chunk != nullptr && chunk->pages == nullptr) {
        delete chunk;
        return nullptr;
    }
    return chunk;
}

void LogStream::discard(Chunk *chunk) noexcept {
    if (chunk == growing_) {
        growing_ = chunk->next;
    }
    if (chunk == held_) {
        held_ = nullptr;
    }
    if (spill_ != nullptr) {
        spill_->discard(chunk);
    } else {
        PagePool::instance().give(chunk->pages, chunk->size);
        delete chunk;
    }
}

// The end, and with it the last entry, which may still be changed, is in none of them.
void LogStream::complete_chunks() noexcept {
    Chunk *chunk = growing_ != nullptr ? growing_ : first_;
    for (; end_.chunk != nullptr && chunk != end_.chunk; chunk = chunk->next) {
        spill_->complete(*chunk);
    }
    growing_ = chunk;
}

bool LogStream::hold(Chunk &chunk) noexcept {
    if (spill_ == nullptr || held_ == &chunk) {
        return true;
    }
    if (!spill_->hold(chunk, chunk.next)) {
        return false;
    }
    if (held_ != nullptr) {
        spill_->release(*held_);
    }
    held_ = &chunk;
    return true;
}

void LogStream::close() noexcept {
    close_alone();
    for_each_nested(0, [](Sibling, LogStream &nested) { nested.close_alone(); });
}

void LogStream::close_alone() noexcept {
    const std::scoped_lock lock(lock_);
    forget_before(Position(end_));
    free_chunks_before(nullptr);
    begin_ = cursor_ = end_ = Position{nullptr, 0, end_.entries, end_.bytes, end_.lost};
    closed_ = true;
    cursor_moved();
}

bool LogStream::widen(size_t used, size_t size, cd_log_room &room) noexcept {
    if (size > room.size) {
        Chunk *too_small = last_;
        Record *record = find_room(std::max(size, 2 * room.size)); // more pieces may follow
        if (record == nullptr) {
            refused_.store(size, std::memory_order_relaxed);
            ++end_.lost;
            return false;
        }
        std::memcpy(record->payload(), room.at, used);
        room = room_of(record);
        give_back_unused(too_small);
    }
    return true;
}

void LogStream::miss() noexcept {
    const std::scoped_lock lock(lock_);
    end_.lost += takes_entries() ? 1 : 0;
}

// A chunk behind the end. Unless it is where the end is, no position refers to it.
void LogStream::give_back_unused(Chunk *chunk) noexcept {
    if (chunk->used != 0 || chunk == end_.chunk) {
        return;
    }
    Chunk **link = end_.chunk != nullptr ? &end_.chunk->next : &first_;
    while (*link != chunk) {
        link = &(*link)->next;
    }
    *link = chunk->next;
    discard(chunk);
}

void *LogStream::append(const cd_log_part *parts, int count) noexcept {
    size_t length = 0;
    for (int i = 0; i < count; ++i) {
        length += parts[i].length;
    }
    const std::scoped_lock lock(lock_);
    if (!takes_entries()) {
        return nullptr;
    }
    Record *record = reserve_room(aligned(length));
    if (record == nullptr) {
        return nullptr;
    }
    record->word = length;
    auto *to = static_cast<std::byte *>(record->payload());
    for (int i = 0; i < count; ++i) {
        if (parts[i].length > 0) {
            std::memcpy(to, parts[i].data, parts[i].length);
            to += parts[i].length;
        }
    }
    account(last_, length, record->size_in_chunk());
    return record->payload();
}

bool LogStream::adopt(void *entry, size_t length) noexcept {
    if (spill_ != nullptr) {
        const cd_log_part part = {entry, length};
        const bool copied = append(&part, 1) != nullptr;
        if (copied) {
            std::free(entry);
        }
        return copied;
    }
    const std::scoped_lock lock(lock_);
    if (!takes_entries()) {
        return false;
    }
    Record *record = reserve_room(0);
    if (record == nullptr) {
        return false;
    }
    *record = {length, entry};
    ++adopted_;
    account(last_, length, record->size_in_chunk());
    return true;
}

// The same as position, which is not the end, in the chunk that its record lies in.
LogStream::Position LogStream::at_record(Position position) const {
    if (position.chunk == nullptr) {
        position.chunk = first_;
        position.offset = 0;
    }
    while (position.offset == position.chunk->used) { // the next one may be empty: it was too small
        position.chunk = position.chunk->next;
        position.offset = 0;
    }
    return position;
}

// The record at position, which is where at_record() says; moves position behind it.
LogStream::Record &LogStream::step(Position &position) const {
    auto *record = reinterpret_cast<Record *>(position.chunk->at(position.offset));
    position.offset += record->size_in_chunk();
    ++position.entries;
    position.bytes += record->length();
    return *record;
}

void *LogStream::next(size_t &length) noexcept {
    const std::scoped_lock lock(lock_);
    if (!replaying()) {
        return nullptr;
    }
    Position place = at_record(cursor_);
    if (!hold(*place.chunk)) {
        return nullptr;
    }
    read_from_ = cursor_;
    Record &record = step(place);
    cursor_ = place;
    cursor_moved();
    length = record.length();
    return record.payload();
}

Status LogStream::trouble() const { return spill_ != nullptr ? spill_->trouble() : Status::ok(); }

// What lies before the begin is not replayed by anybody.
uint64_t LogStream::lost_since(const Position &position) const {
    const std::scoped_lock lock(lock_);
    return end_.lost - std::max(position.lost, begin_.lost);
}

uint64_t LogStream::bytes_in_files() const {
    return spill_ != nullptr ? spill_->bytes_in_files() : 0;
}

void LogStream::unread() noexcept {
    const std::scoped_lock lock(lock_);
    cursor_ = read_from_;
    cursor_moved();
}

void LogStream::stop() noexcept {
    const std::scoped_lock lock(lock_);
    stopped_at_.store(cursor_.entries, std::memory_order_relaxed);
}

bool LogStream::stopped() const {
    if (stopped_at_.load(std::memory_order_relaxed) == nowhere) {
        return false;
    }
    const std::scoped_lock lock(lock_);
    return replaying() && cursor_.entries == stopped_at_.load(std::memory_order_relaxed);
}

LogStream::Position LogStream::begin() const {
    const std::scoped_lock lock(lock_);
    return begin_;
}

LogStream::Position LogStream::cursor() const {
    const std::scoped_lock lock(lock_);
    return place();
}

LogStream::Position LogStream::end() const {
    const std::scoped_lock lock(lock_);
    return end_;
}

LogStream::Places LogStream::places() const {
    const std::scoped_lock lock(lock_);
    return {begin_, place(), end_};
}

uint64_t LogStream::replay() const {
    const std::scoped_lock lock(lock_);
    return replaying() ? replays_ : 0;
}

void LogStream::mark_end() noexcept {
    const std::scoped_lock lock(lock_);
    marked_ = end_.entries;
}

bool LogStream::grown_since_mark() const {
    const std::scoped_lock lock(lock_);
    return end_.entries > marked_;
}

LogStream::Position LogStream::skip_to_end() noexcept {
    const std::scoped_lock lock(lock_);
    move_cursor(end_);
    return end_;
}

void LogStream::rewind(const Position &position, int depth) noexcept {
    const std::scoped_lock lock(lock_);
    if (is_orphaned() && position.entries > cursor_.entries) {
        return; // the CD began behind what had been left by then
    }
    restored_ = replaying() ? std::min(restored_, depth) : depth;
    move_cursor(position);
}

void LogStream::move_cursor(const Position &position) noexcept {
    if (!replaying() && !(position == end_)) {
        ++replays_;
        refused_.store(0, std::memory_order_relaxed);
    }
    stopped_at_.store(nowhere, std::memory_order_relaxed);
    // What lies before the begin is gone, and so may be the chunk of the same place.
    cursor_ = position.entries <= begin_.entries ? begin_ : position;
    cursor_moved();
}

void LogStream::keep_newest(uint64_t bytes) noexcept {
    const std::scoped_lock lock(lock_);
    kept_ = bytes;
}

std::shared_ptr<LogStream> LogStream::find_nested(Sibling sibling) {
    const std::scoped_lock lock(nested_mutex_);
    const auto found = nested_.find(sibling);
    return found != nested_.end() ? found->second : nullptr;
}

std::shared_ptr<LogStream> LogStream::nested(Sibling sibling) {
    const std::scoped_lock lock(nested_mutex_);
    auto found = nested_.find(sibling);
    if (found == nested_.end()) {
        found = nested_.emplace(sibling, std::make_shared<LogStream>(*this, sibling)).first;
    }
    return found->second;
}

// That with the least name that is not less than from, or nullptr.
LogStream *LogStream::first_nested(const Sibling &from) noexcept {
    const std::scoped_lock lock(nested_mutex_);
    const auto found = nested_.lower_bound(from);
    return found != nested_.end() ? found->second.get() : nullptr;
}

// That which for_each_nested() visits after another one, or first of all after this one; or
// nullptr. Streams are nested as deeply as CDs are: it goes up and down along them one by one, and
// calls itself for none.
LogStream *LogStream::next_nested(LogStream &after, int depth) noexcept {
    if (LogStream *inside = after.first_nested({depth + 1, 0, false})) {
        return inside;
    }
    for (LogStream *at = &after; at != this; at = at->outer_) {
        const auto &[depth_there, index, elsewhere] = at->sibling_;
        const Sibling behind =
            elsewhere ? Sibling{depth_there, index + 1, false} : Sibling{depth_there, index, true};
        if (LogStream *beside = at->outer_->first_nested(behind)) {
            return beside;
        }
    }
    return nullptr;
}

void LogStream::trim(const Position &position) noexcept {
    const std::scoped_lock lock(lock_);
    forget_before(position);
}

// The caller holds the lock, unless nobody else knows the stream any more.
void LogStream::forget_before(const Position &position) noexcept {
    for (Position at = begin_; adopted_ > 0 && !(at == position);) {
        at = at_record(at);
        if (void *entry = step(at).adopted; entry != nullptr) {
            std::free(entry);
            --adopted_;
        }
    }
    begin_ = position;
    if (position.chunk != nullptr) {
        free_chunks_before(position.chunk);
    }
    if (begin_ == end_ && last_ != nullptr) {
        last_->used = 0; // nothing is left in it: start over in warm memory
        end_.chunk = last_;
        end_.offset = 0;
        begin_ = cursor_ = end_;
    }
}

void LogStream::free_chunks_before(const Chunk *last) noexcept {
    while (first_ != last && first_ != nullptr) {
        Chunk *chunk = first_;
        first_ = chunk->next;
        discard(chunk);
    }
    if (first_ == nullptr) {
        last_ = nullptr;
    }
}

} // namespace cd
