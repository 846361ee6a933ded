// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/data_writer.h"

#include "file_store/format.h"
#include "store/crc32c.h"

#include <algorithm>
#include <cstring>

namespace cd {
namespace {

// Measured: larger ones leave the caches, smaller ones make more calls.
constexpr size_t buffer_size = 4 * format::checked_part;

// Measured (bench/write_candidates.cpp).
constexpr uint64_t begun_together = uint64_t{8} << 20;

} // namespace

Status DataWriter::write(uint64_t offset, const void *from, size_t length,
                         std::vector<uint32_t> &checksums) {
    checksums.clear();
    buffer_.resize(buffer_size);
    const auto *at = static_cast<const std::byte *>(from);
    while (length > 0) {
        const size_t part = std::min(length, format::checked_part);
        if (offset_ + used_ != offset || used_ + part > buffer_.size()) {
            if (Status status = flush(); !status) {
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
    return Status::ok();
}

Status DataWriter::flush() {
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
    if (offset != waiting_to_) {
        waiting_from_ = offset;
    }
    waiting_to_ = offset + length;
    if (waiting_to_ - waiting_from_ >= begun_together) {
        volume_.file().begin_sync(waiting_from_, waiting_to_ - waiting_from_);
        waiting_from_ = waiting_to_;
    }
}

} // namespace cd
