// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a replay has left unread, and whose that is.
#include "mpi_log/log_stream.h"
#include "mpi_log/log_view.h"
#include "mpi_log/spill.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace cd {
namespace {

class Hold {
public:
    Hold(LogSpill *spill, LogChunk &chunk)
        : spill_(spill), chunk_(chunk),
          succeeded_(spill == nullptr || spill->hold(chunk, chunk.next)) {}
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;
    ~Hold() {
        if (spill_ != nullptr && succeeded_) {
            spill_->release(chunk_);
        }
    }

    bool succeeded() const { return succeeded_; }

private:
    LogSpill *spill_;
    LogChunk &chunk_;
    bool succeeded_;
};

} // namespace

bool LogStream::replaying_for(int depth) const {
    const std::scoped_lock lock(lock_);
    return replaying() && restored_ <= depth;
}

void LogStream::orphan(int depth) noexcept {
    const std::scoped_lock lock(lock_);
    if (!replaying() || restored_ < depth) {
        return;
    }
    if (Position at = cursor_; passes(at, end_.entries)) {
        move_cursor(end_);
    } else {
        restored_ = nobody;
    }
}

// Moves position, from the cursor on, as far as that entry, if all before it may be left. False if
// not, or if one cannot be read.
bool LogStream::passes(Position &position, uint64_t until) noexcept {
    Chunk *const held = held_;
    bool all = true;
    while (all && position.entries < until) {
        Position next = at_record(position);
        all = hold(*next.chunk) && !step(next).has_to_be_read();
        if (all) {
            position = next;
        }
    }
    if (held != nullptr) {
        all = hold(*held) && all; // what was read last lies there
    }
    return all;
}

uint64_t LogStream::left() noexcept {
    const std::scoped_lock lock(lock_);
    Position at = cursor_;
    return replaying() && !passes(at, end_.entries) ? end_.entries - cursor_.entries : 0;
}

uint64_t LogStream::orphaned() const {
    const std::scoped_lock lock(lock_);
    return is_orphaned() ? end_.entries - cursor_.entries : 0;
}

bool LogStream::copy_next(Position &position, std::vector<std::byte> &entry) {
    const std::scoped_lock lock(lock_);
    if (position.entries < begin_.entries || position.entries >= end_.entries) {
        return false;
    }
    // The chunk of the same place may be gone.
    Position place = at_record(position == begin_ ? begin_ : position);
    const Hold hold(spill_.get(), *place.chunk); // beside what was read last
    if (!hold.succeeded()) {
        return false;
    }
    Record &record = step(place);
    const auto *payload = static_cast<const std::byte *>(record.payload());
    entry.assign(payload, payload + record.length());
    position = place;
    return true;
}

bool LogStream::take_resident() {
    const std::scoped_lock lock(lock_);
    if (replaying()) {
        const auto next = std::ranges::lower_bound(residents_, cursor_.entries);
        Position at = cursor_;
        if (!passes(at, next != residents_.end() ? *next : end_.entries)) {
            return false;
        }
        cursor_ = at;
        cursor_moved();
    }
    if (replaying()) {
        return true;
    }
    residents_.erase(residents_.begin(), std::ranges::lower_bound(residents_, begin_.entries));
    if (residents_.empty() || residents_.back() != end_.entries) {
        residents_.push_back(end_.entries);
    }
    return true;
}

std::vector<std::shared_ptr<LogStream>> LogView::in_replay(int depth) const {
    std::vector<std::shared_ptr<LogStream>> streams;
    if (stream_->stopped()) {
        return streams;
    }
    const auto add = [&streams](LogStream &stream) {
        if (stream.replaying() && !stream.stopped()) {
            streams.push_back(stream.shared_from_this());
        }
    };
    add(*stream_);
    stream_->for_each_nested(depth, [&](LogStream::Sibling, LogStream &nested) { add(nested); });
    return streams;
}

} // namespace cd
