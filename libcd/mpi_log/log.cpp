// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log.h"

#include "memory/page_pool.h"
#include "mpi_log/spill.h"
#include "os/system.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace cd {
namespace {

constexpr size_t usual_log_chunk = size_t{256} << 10;
constexpr size_t largest_log_chunk = size_t{8} << 20;

// For a log that keeps the newest entries.
constexpr size_t smallest_log_chunk = size_t{4} << 10;
constexpr size_t chunks_kept = 8;

} // namespace

Log::~Log() {
    cursor_ = end_;
    cursor_moved();
    forget_before(Position(end_));
    free_chunks_before(nullptr);
    end_nested();
}

// Ends the innermost logs first, without recursion: logs nest as deeply as CDs do, and threads have
// small stacks. A log that a thread still refers to stays, with those nested in it.
void Log::end_nested() noexcept {
    Log *at = this;
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

bool Log::add_chunk(size_t needed) noexcept {
    if (kept_ > 0) {
        drop_oldest(size_of_chunk(needed));
    }
    LogChunk *chunk = make_chunk(needed);
    if (chunk == nullptr) {
        return false;
    }
    chunk->entries_before = end_.entries;
    chunk->bytes_before = end_.bytes;
    (last_ != nullptr ? last_->next : first_) = chunk;
    last_ = chunk;
    return true;
}

// Drops the oldest chunks until room more bytes may be taken. Keeps the chunk of the end, and the
// last one, in which an entry may be open.
void Log::drop_oldest(size_t room) noexcept {
    uint64_t held = room;
    for (const LogChunk *chunk = first_; chunk != nullptr; chunk = chunk->next) {
        held += chunk->size;
    }
    while (held > kept_ && first_ != end_.chunk && first_ != last_) {
        held -= first_->size;
        const LogChunk *const oldest = first_->next;
        begin_ = {first_->next, 0, oldest->entries_before, oldest->bytes_before, end_.lost};
        dropped_.store(begin_.entries, std::memory_order_relaxed);
        free_chunks_before(oldest);
    }
}

// Returns the size of the next chunk. A long log doubles, so that it gets huge pages, which the
// system provides in a fraction of the time.
size_t Log::next_chunk() const noexcept {
    if (kept_ > 0) {
        return std::clamp<uint64_t>(kept_ / chunks_kept, smallest_log_chunk, largest_log_chunk);
    }
    return std::clamp<uint64_t>(end_.bytes - begin_.bytes, usual_log_chunk, largest_log_chunk);
}

// Returns the size that is asked of the page pool, without a LogSpill.
size_t Log::size_of_chunk(size_t needed) const noexcept {
    const size_t size = std::max(next_chunk(), needed);
    if (size > huge_page / 2 && size < 2 * huge_page) {
        return size > huge_page ? 2 * huge_page : huge_page;
    }
    return PagePool::rounded(size);
}

LogChunk *Log::make_chunk(size_t needed) noexcept {
    if (spill_ != nullptr) {
        complete_chunks();
        return spill_->make(std::max(spill_->chunk_size(), needed));
    }
    size_t size = size_of_chunk(needed);
    auto *chunk = new (std::nothrow) LogChunk;
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

void Log::discard(LogChunk *chunk) noexcept {
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

// Gives chunks before the end to the spill. The last entry may still change, so its chunk stays.
void Log::complete_chunks() noexcept {
    LogChunk *chunk = growing_ != nullptr ? growing_ : first_;
    for (; end_.chunk != nullptr && chunk != end_.chunk; chunk = chunk->next) {
        spill_->complete(*chunk);
    }
    growing_ = chunk;
}

// Keeps the chunk in memory, instead of the one that was held before.
bool Log::hold(LogChunk &chunk) noexcept {
    if (spill_ == nullptr || held_ == &chunk) {
        return true;
    }
    if (!spill_->hold(chunk)) {
        return false;
    }
    if (held_ != nullptr) {
        spill_->release(*held_);
    }
    held_ = &chunk;
    return true;
}

void Log::close() noexcept {
    close_alone();
    for_each_nested(0, [](Sibling, Log &nested) { nested.close_alone(); });
}

void Log::close_alone() noexcept {
    const std::scoped_lock lock(lock_);
    forget_before(Position(end_));
    free_chunks_before(nullptr);
    begin_ = cursor_ = end_ = Position{nullptr, 0, end_.entries, end_.bytes, end_.lost};
    closed_ = true;
    cursor_moved();
}

bool Log::widen(size_t used, size_t size, cd_log_room &room) noexcept {
    if (size > room.size) {
        LogChunk *too_small = last_;
        Record *record = find_room(std::max(size, 2 * room.size)); // more pieces may follow
        if (record == nullptr) {
            ++end_.lost;
            return false;
        }
        std::memcpy(record + 1, room.at, used);
        room = room_of(record);
        give_back_unused(too_small);
    }
    return true;
}

void Log::miss() noexcept {
    const std::scoped_lock lock(lock_);
    end_.lost += takes_entries() ? 1 : 0;
}

// Frees an empty chunk behind the end, to which no position refers.
void Log::give_back_unused(LogChunk *chunk) noexcept {
    if (chunk->used != 0 || chunk == end_.chunk) {
        return;
    }
    LogChunk **link = end_.chunk != nullptr ? &end_.chunk->next : &first_;
    while (*link != chunk) {
        link = &(*link)->next;
    }
    *link = chunk->next;
    discard(chunk);
}

bool Log::append(const cd_log_part *parts, int count) noexcept {
    size_t length = 0;
    for (int i = 0; i < count; ++i) {
        length += parts[i].length;
    }
    const std::scoped_lock lock(lock_);
    Record *record = takes_entries() ? find_room(aligned(length)) : nullptr;
    if (record == nullptr) {
        return false;
    }
    record->length = length;
    auto *to = reinterpret_cast<std::byte *>(record + 1);
    for (int i = 0; i < count; ++i) {
        if (parts[i].length > 0) {
            std::memcpy(to, parts[i].data, parts[i].length);
            to += parts[i].length;
        }
    }
    account(last_, length, sizeof(Record) + aligned(length));
    return true;
}

void *Log::next(size_t &length) noexcept {
    const std::scoped_lock lock(lock_);
    if (!replaying()) {
        return nullptr;
    }
    LogChunk *chunk = cursor_.chunk != nullptr ? cursor_.chunk : first_;
    size_t offset = cursor_.chunk != nullptr ? cursor_.offset : 0;
    while (offset == chunk->used) { // the next one may be empty: it was too small
        chunk = chunk->next;
        offset = 0;
    }
    if (!hold(*chunk)) {
        return nullptr;
    }
    auto *const record = reinterpret_cast<Record *>(chunk->at(offset));
    length = record->length;
    read_from_ = cursor_;
    cursor_ = {chunk, offset + sizeof(Record) + aligned(length), cursor_.entries + 1,
               cursor_.bytes + length, cursor_.lost};
    cursor_moved();
    return record + 1;
}

Status Log::trouble() const { return spill_ != nullptr ? spill_->trouble() : Status::ok(); }

uint64_t Log::lost_since(const Position &position) const {
    const std::scoped_lock lock(lock_);
    return end_.lost - std::max(position.lost, begin_.lost);
}

uint64_t Log::bytes_in_files() const { return spill_ != nullptr ? spill_->bytes_in_files() : 0; }

void Log::unread() noexcept {
    const std::scoped_lock lock(lock_);
    cursor_ = read_from_;
    cursor_moved();
}

void Log::stop() noexcept {
    const std::scoped_lock lock(lock_);
    stopped_at_.store(cursor_.entries, std::memory_order_relaxed);
}

bool Log::stopped() const {
    if (stopped_at_.load(std::memory_order_relaxed) == nowhere) {
        return false;
    }
    const std::scoped_lock lock(lock_);
    return replaying() && cursor_.entries == stopped_at_.load(std::memory_order_relaxed);
}

Log::Places Log::places() const {
    const std::scoped_lock lock(lock_);
    return {begin_, replaying() ? cursor_ : end_, end_};
}

bool Log::replaying_for(int depth) const {
    const std::scoped_lock lock(lock_);
    return replaying() && restored_ <= depth;
}

uint64_t Log::left() const noexcept {
    const std::scoped_lock lock(lock_);
    const uint64_t needed_until = optional_until_ == end_.entries ? optional_from_ : end_.entries;
    return replaying() && cursor_.entries < needed_until ? end_.entries - cursor_.entries : 0;
}

Log::Position Log::skip_to_end() noexcept {
    const std::scoped_lock lock(lock_);
    move_cursor(end_);
    return end_;
}

void Log::rewind(const Position &position, int depth) noexcept {
    const std::scoped_lock lock(lock_);
    restored_ = replaying() ? std::min(restored_, depth) : depth;
    move_cursor(position);
}

void Log::end_replay_of(int depth) noexcept {
    const std::scoped_lock lock(lock_);
    if (replaying() && restored_ >= depth) {
        move_cursor(end_);
    }
}

void Log::move_cursor(const Position &position) noexcept {
    stopped_at_.store(nowhere, std::memory_order_relaxed);
    cursor_ = position.entries <= begin_.entries ? begin_ : position;
    cursor_moved();
}

void Log::keep_newest(uint64_t bytes) noexcept {
    const std::scoped_lock lock(lock_);
    kept_ = bytes;
}

std::shared_ptr<Log> Log::find_nested(Sibling sibling) {
    const std::scoped_lock lock(nested_mutex_);
    const auto found = nested_.find(sibling);
    return found != nested_.end() ? found->second : nullptr;
}

std::shared_ptr<Log> Log::nested(Sibling sibling) {
    const std::scoped_lock lock(nested_mutex_);
    auto found = nested_.find(sibling);
    if (found == nested_.end()) {
        found = nested_.emplace(sibling, std::make_shared<Log>(*this, sibling)).first;
    }
    return found->second;
}

// Returns the first nested log whose name is not less than from, or nullptr.
Log *Log::first_nested(const Sibling &from) noexcept {
    const std::scoped_lock lock(nested_mutex_);
    const auto found = nested_.lower_bound(from);
    return found != nested_.end() ? found->second.get() : nullptr;
}

// Returns the log that for_each_nested() visits after the given one, or nullptr. Without recursion,
// as in end_nested().
Log *Log::next_nested(Log &after, int depth) noexcept {
    if (Log *inside = after.first_nested({depth + 1, 0, false})) {
        return inside;
    }
    for (Log *at = &after; at != this; at = at->outer_) {
        const auto &[depth_there, index, other_thread] = at->sibling_;
        const Sibling behind = other_thread ? Sibling{depth_there, index + 1, false}
                                            : Sibling{depth_there, index, true};
        if (Log *beside = at->outer_->first_nested(behind)) {
            return beside;
        }
    }
    return nullptr;
}

void Log::trim(const Position &position) noexcept {
    const std::scoped_lock lock(lock_);
    forget_before(position);
}

// Needs the lock, except in the destructor.
void Log::forget_before(const Position &position) noexcept {
    begin_ = position;
    if (position.chunk != nullptr) {
        free_chunks_before(position.chunk);
    }
    if (begin_ == end_ && last_ != nullptr) {
        last_->used = 0; // nothing is left in the chunk: start over in warm memory
        end_.chunk = last_;
        end_.offset = 0;
        begin_ = cursor_ = end_;
    }
}

void Log::free_chunks_before(const LogChunk *last) noexcept {
    while (first_ != last && first_ != nullptr) {
        LogChunk *chunk = first_;
        first_ = chunk->next;
        discard(chunk);
    }
    if (first_ == nullptr) {
        last_ = nullptr;
    }
}

} // namespace cd
