// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cd {

// Names the instructions that copy large data. On Arm memcpy is as fast as special stores.
#ifdef __x86_64__
inline constexpr const char *copy_kernel = "sse2";
#else
inline constexpr const char *copy_kernel = "memcpy";
#endif

// Copies past the caches, for data too long to stay there: the target's old bytes are not fetched.
// Visible to other threads as memcpy's result.
void copy_past_caches(void *to, const void *from, size_t length) noexcept;

// Copies in several streams, for data longer than the cache next to the core.
void copy_in_streams(void *to, const void *from, size_t length) noexcept;

// Copies data of any length through the caches.
inline void copy_through_caches(void *to, const void *from, size_t length) noexcept {
    constexpr size_t worth_streams = size_t{512} << 10; // measured
    if (length < worth_streams) {
        std::memcpy(to, from, length);
    } else {
        copy_in_streams(to, from, length);
    }
}

// Copies many entries between application memory and blocks. Neighbours on both sides are copied as
// one. Beyond the size of the caches it writes past them.
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

    // Returns the bytes copied up to the last flush.
    size_t copied() const { return copied_; }

    // Returns the first error of reading a backed block. Later reads are skipped.
    Status status() const { return status_; }

private:
    // Measured: writing past the caches pays from this total on, and for parts of this length.
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
