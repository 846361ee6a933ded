// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store/block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cd {

// Copies between application memory and the store; neighbours on both sides are copied as one,
// since a call per small entry would cost more than its bytes.
class CopyRun {
public:
    enum class Direction { to_store, to_memory };

    explicit CopyRun(Direction direction) : direction_(direction) {}
    CopyRun(const CopyRun &) = delete;
    CopyRun &operator=(const CopyRun &) = delete;
    ~CopyRun() { flush(); }

    void add(uintptr_t memory, Block &block, std::byte *at, size_t length) {
        if (block_ != &block || memory != memory_ + length_ || at != at_ + length_) {
            flush();
            block_ = &block;
            at_ = at;
            memory_ = memory;
        }
        length_ += length;
    }

    void flush() {
        if (length_ > 0) {
            auto *memory = reinterpret_cast<std::byte *>(memory_);
            if (direction_ == Direction::to_store) {
                block_->write(at_, memory, length_);
            } else {
                std::memcpy(memory, at_, length_);
            }
            copied_ += length_;
            length_ = 0;
        }
    }

    // Bytes copied up to the last flush.
    size_t copied() const { return copied_; }

private:
    Direction direction_;
    Block *block_ = nullptr;
    std::byte *at_ = nullptr;
    uintptr_t memory_ = 0;
    size_t length_ = 0;
    size_t copied_ = 0;
};

} // namespace cd
