// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cd {

// The copies of this file are memcpy, and faster where it is slow. Without an x86-64 they are
// memcpy itself. The result is visible to other threads as that of memcpy is.

// Leaves the target in memory and not in the caches. For what is too long to stay there anyway: the
// target's old bytes need not be fetched then.
void copy_past_caches(void *to, const void *from, size_t length) noexcept;

// For what is longer than the cache next to the core keeps, and goes through the ones behind it.
void copy_in_streams(void *to, const void *from, size_t length) noexcept;

// For any length of which the target may stay in the caches.
inline void copy_through_caches(void *to, const void *from, size_t length) noexcept {
    constexpr size_t worth_streams = size_t{512} << 10; // measured
    if (length < worth_streams) {
        std::memcpy(to, from, length);
    } else {
        copy_in_streams(to, from, length);
    }
}

// Copies between application memory and the store; neighbours on both sides are copied as one,
// since a call per small entry would cost more than its bytes. Once it has copied more than the
// caches keep anyway it writes past them, as memcpy does when a single copy is that long.
class CopyRun {
public:
    enum class Direction { to_store, to_memory };

    explicit CopyRun(Direction direction) : direction_(direction) {}
    CopyRun(const CopyRun &) = delete;
    CopyRun &operator=(const CopyRun &) = delete;
    ~CopyRun() { flush(); }

    void add(uintptr_t memory, Block &block, size_t offset, size_t length) {
        if (block_ != &block || memory != memory_ + length_ || offset != offset_ + length_) {
            flush();
            block_ = &block;
            offset_ = offset;
            memory_ = memory;
        }
        length_ += length;
    }

    void flush() {
        if (length_ > 0) {
            copied_ += length_;
            if (block_->backing() != nullptr) {
                read_one();
            } else if (copied_ >= most_cached && length_ >= worth_passing) {
                copy_one_past_caches();
            } else {
                copy_one();
            }
            length_ = 0;
        }
    }

    // Bytes copied up to the last flush.
    size_t copied() const { return copied_; }

    // The first error of a read from what is not in memory. Nothing is read after it.
    Status status() const { return status_; }

private:
    // Measured: from about this size on the caches lose, and with parts that are shorter than this
    // the lines at their ends cost more than is gained.
    static constexpr size_t most_cached = size_t{16} << 20;
    static constexpr size_t worth_passing = size_t{4} << 10;

    std::byte *memory() const { return reinterpret_cast<std::byte *>(memory_); }

    void copy_one() {
        if (direction_ == Direction::to_store) {
            block_->write(offset_, memory(), length_);
        } else {
            copy_through_caches(memory(), block_->data() + offset_, length_);
        }
    }

    void copy_one_past_caches() {
        if (direction_ == Direction::to_store) {
            block_->write_past_caches(offset_, memory(), length_);
        } else {
            copy_past_caches(memory(), block_->data() + offset_, length_);
        }
    }

    void read_one() {
        if (status_.is_ok()) {
            status_ = block_->backing()->read(offset_, memory(), length_);
        }
    }

    Direction direction_;
    Block *block_ = nullptr;
    size_t offset_ = 0;
    uintptr_t memory_ = 0;
    size_t length_ = 0;
    size_t copied_ = 0;
    Status status_;
};

} // namespace cd
