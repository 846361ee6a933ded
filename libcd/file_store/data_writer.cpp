// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/data_writer.h"

#include "file_store/allocator.h"
#include "file_store/format.h"
#include "memory/copy.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <cstring>

namespace cd {
namespace {

// Measured: larger ones leave the caches, smaller ones make more calls.
constexpr size_t buffer_size = 4 * format::checked_part;

// Measured: what does not fit into the cache next to the core is written faster past it.
constexpr uint64_t most_cached = uint64_t{2} << 20;

// Measured (bench/write_candidates.cpp).
constexpr uint64_t begun_together = uint64_t{8} << 20;

// The kernel looks at the unwritten pages in between, too.
constexpr uint64_t longest_gap = begun_together;

} // namespace

Status DataWriter::write(uint64_t offset, const void *from, size_t length, Checksums &checksums) {
    checksums.clear();
    const auto *bytes = static_cast<const std::byte *>(from);
    std::byte *place = volume_.in_place({offset, length});
    if (place == nullptr && goes_past_cache(length)) {
        written_ = true;
        return direct_->write(offset, bytes, length, checksummed_ ? &checksums : nullptr);
    }
    if (place == nullptr) {
        return write_by_buffer(offset, bytes, length, checksums);
    }
    if (in_place_ == 0) {
        if (Status status = volume_.check_whole(); !status) {
            return status;
        }
    }
    write_in_place(place, bytes, length, checksums);
    return Status::ok();
}

void DataWriter::write_in_place(std::byte *to, const std::byte *from, size_t length,
                                Checksums &checksums) {
    in_place_ += length;
    const bool past_caches = in_place_ >= most_cached;
    if (!checksummed_) {
        past_caches ? copy_past_caches(to, from, length)
                    : static_cast<void>(std::memcpy(to, from, length));
        return;
    }
    const auto copy = past_caches ? copy_crc32c_past_caches : copy_crc32c;
    for (size_t done = 0; done < length; done += format::checked_part) {
        const size_t part = std::min(length - done, format::checked_part);
        checksums.push_back(copy(0, to + done, from + done, part));
    }
    if (past_caches) {
        finish_past_caches();
    }
}

Status DataWriter::write_by_buffer(uint64_t offset, const std::byte *at, size_t length,
                                   Checksums &checksums) {
    buffer_.resize(buffer_size);
    const uint64_t room_end = offset + Space::rounded(length);
    if (offset == room_end_) {
        fill_room();
    }
    while (length > 0) {
        const size_t part = std::min(length, format::checked_part);
        if (offset_ + used_ != offset || used_ + part > buffer_.size()) {
            if (Status status = write_buffer(); !status) {
                return status;
            }
            offset_ = offset;
        }
        if (checksummed_) {
            checksums.push_back(copy_crc32c(0, buffer_.data() + used_, at, part));
        } else {
            std::memcpy(buffer_.data() + used_, at, part);
        }
        used_ += part;
        offset += part;
        at += part;
        length -= part;
    }
    room_end_ = room_end;
    return Status::ok();
}

// Extents that are no whole blocks stay in the page cache: they share blocks with others.
bool DataWriter::goes_past_cache(size_t length) {
    through_buffers_ += length;
    const DirectFile *direct = volume_.direct();
    if (direct == nullptr || !direct->pays(through_buffers_) || length < format::block) {
        return false;
    }
    if (!direct_) {
        direct_.emplace(volume_.file(), *direct);
        begin_waiting();
    }
    return direct_->is_possible();
}

// Fills the buffer with zeros up to the end of the last extent, if that lies in the buffer.
void DataWriter::fill_room() {
    const uint64_t end = offset_ + used_;
    if (used_ > 0 && room_end_ - end <= buffer_.size() - used_) {
        std::memset(buffer_.data() + used_, 0, room_end_ - end);
        used_ += room_end_ - end;
    }
}

Status DataWriter::flush() {
    Status status = write_buffer();
    if (direct_ && status.is_ok()) {
        return direct_->finish();
    }
    if (direct_) {
        const SavedMessage keeper;
        (void)direct_->finish();
    }
    return status;
}

bool DataWriter::may_be_under_way(size_t length) const {
    return volume_.direct() != nullptr && length >= format::block;
}

Status DataWriter::write_buffer() {
    if (used_ == 0) {
        return Status::ok();
    }
    written_ = true;
    const size_t length = used_;
    used_ = 0;
    Status status = volume_.file().write(offset_, buffer_.data(), length);
    if (status.is_ok() && forced_) {
        begin_sync(offset_, length);
    }
    return status;
}

void DataWriter::begin_sync(uint64_t offset, uint64_t length) noexcept {
    const bool goes_on = offset >= waiting_to_ && offset - waiting_to_ <= longest_gap;
    if (!goes_on) {
        waiting_from_ = offset;
        waiting_ = 0;
    }
    waiting_to_ = offset + length;
    waiting_ += length;
    if (waiting_ >= begun_together) {
        begin_waiting();
    }
}

void DataWriter::begin_waiting() noexcept {
    if (waiting_ > 0) {
        volume_.file().begin_sync(waiting_from_, waiting_to_ - waiting_from_);
        waiting_from_ = waiting_to_;
        waiting_ = 0;
    }
}

} // namespace cd
