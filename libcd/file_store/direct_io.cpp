// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/direct_io.h"

#include "file_store/format.h"
#include "memory/crc32c.h"
#include "memory/page_pool.h"
#include "os/system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cd {

namespace {

// Measured: a disk needs writes of this size, and more than one at once.
constexpr size_t direct_piece = size_t{1} << 20;

} // namespace

// Starts up to most_helpers threads; without any, end_piece() writes itself.
DirectWrites::DirectWrites(const File &file, const DirectFile &direct)
    : file_(file), direct_(direct), buffers_size_(pieces * direct_piece),
      buffers_(static_cast<std::byte *>(PagePool::instance().take(buffers_size_))) {
    while (is_possible() && helper_count_ < most_helpers &&
           os::system().start_thread(helpers_[helper_count_], help, this) == 0) {
        ++helper_count_;
    }
}

DirectWrites::~DirectWrites() {
    stop();
    if (buffers_ != nullptr) {
        PagePool::instance().give(buffers_, buffers_size_);
    }
}

Status DirectWrites::write(uint64_t offset, const std::byte *from, size_t length,
                           Checksums *checksums) {
    while (length > 0) {
        const size_t part = std::min(length, format::checked_part);
        const size_t room = format::whole_blocks(part);
        if (!has_room_at(offset, room)) {
            end_piece();
            begin_piece(offset);
            if (filling_ == nullptr) {
                return finish();
            }
        }
        std::byte *to = bytes_of(*filling_) + filling_->length;
        if (checksums != nullptr) {
            checksums->push_back(copy_crc32c(0, to, from, part));
        } else {
            std::memcpy(to, from, part);
        }
        std::memset(to + part, 0, room - part);
        filling_->length += room;
        offset += part;
        from += part;
        length -= part;
    }
    return Status::ok();
}

Status DirectWrites::finish() {
    end_piece();
    stop();
    if (error_ == 0) {
        return Status::ok();
    }
    errno = error_;
    return file_.refused("write", error_at_);
}

std::byte *DirectWrites::bytes_of(const Piece &piece) const {
    return buffers_ + static_cast<size_t>(&piece - pieces_.data()) * direct_piece;
}

bool DirectWrites::has_room_at(uint64_t offset, size_t length) const {
    return filling_ != nullptr && filling_->offset + filling_->length == offset &&
           filling_->length + length <= direct_piece;
}

DirectWrites::Piece *DirectWrites::find(Stage stage) {
    const auto at = std::ranges::find(pieces_, stage, &Piece::stage);
    return at == pieces_.end() ? nullptr : &*at;
}

// Leaves filling_ empty after an error.
void DirectWrites::begin_piece(uint64_t offset) {
    std::unique_lock lock(mutex_);
    Piece *found = nullptr;
    has_free_.wait(lock, [&] { return error_ != 0 || (found = find(Stage::free)) != nullptr; });
    if (error_ == 0) {
        *found = {Stage::filling, offset, 0};
        filling_ = found;
    }
}

void DirectWrites::end_piece() {
    if (filling_ == nullptr) {
        return;
    }
    std::unique_lock lock(mutex_);
    filling_->stage = Stage::waiting;
    if (helper_count_ == 0) {
        write_out(lock, *filling_);
    }
    has_work_.notify_one();
    filling_ = nullptr;
}

void DirectWrites::write_out(std::unique_lock<std::mutex> &lock, Piece &piece) {
    piece.stage = Stage::writing;
    uint64_t offset = piece.offset;
    lock.unlock();
    const int error = File::write(direct_.descriptor(), offset, bytes_of(piece), piece.length);
    lock.lock();
    if (error != 0 && error_ == 0) {
        error_ = error;
        error_at_ = offset;
    }
    piece.stage = Stage::free;
    has_free_.notify_one();
}

void DirectWrites::stop() {
    {
        const std::scoped_lock lock(mutex_);
        over_ = true;
    }
    has_work_.notify_all();
    for (; helper_count_ > 0; --helper_count_) {
        os::system().join_thread(helpers_[helper_count_ - 1]);
    }
}

void *DirectWrites::help(void *self) {
    auto &writes = *static_cast<DirectWrites *>(self);
    std::unique_lock lock(writes.mutex_);
    while (true) {
        Piece *found = nullptr;
        writes.has_work_.wait(
            lock, [&] { return (found = writes.find(Stage::waiting)) != nullptr || writes.over_; });
        if (found == nullptr) {
            return nullptr;
        }
        writes.write_out(lock, *found);
    }
}

} // namespace cd
