// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "memory/crc32c.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cd {

// Where the bytes of a block are that is not in memory. Gives the place back at its end.
class Backing {
public:
    virtual ~Backing() = default;

    // Reads length bytes from offset on and compares them with their checksums; after an error, to
    // holds anything. May throw std::bad_alloc.
    virtual Status read(size_t offset, void *to, size_t length) const = 0;

    // So many bytes more, or fewer, of it are what a CD holds.
    virtual void use(size_t length) noexcept = 0;
    virtual void lose(size_t length) noexcept = 0;

    // Whether much of the place is kept from others by what little of it is still used.
    virtual bool is_sparse() const noexcept = 0;
};

// A stretch of store memory that one operation filled. Entries hold pieces of it and share its
// ownership by counting; the last one frees it. Blocks of different CDs are independent; the
// bytes of one piece are written only under the lock of the CD that alone owns it.
//
// A checksummed block keeps a CRC-32C per page. Writing part of a page checks the page first, so
// that damage to its other bytes is never sealed with a fresh checksum. What nobody has written of
// a page is zero then.
class Block {
public:
    static constexpr size_t page = 4096;

    // nullptr when there is no memory. The creator holds one reference.
    static Block *create(size_t size, bool checksummed) noexcept;

    // The same for bytes that are elsewhere; they are written by whoever makes backings.
    static Block *create_backed(std::unique_ptr<Backing> backing, size_t size) noexcept;

    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    // Null if the bytes are not in memory.
    std::byte *data() { return data_; }
    Backing *backing() const { return backing_.get(); }
    size_t size() const { return size_; }
    bool checksummed() const { return pages_ != nullptr; }

    // Whether one piece alone holds the block.
    bool has_one_owner() const { return references_.load(std::memory_order_acquire) == 1; }

    void retain(size_t count = 1) { references_.fetch_add(count, std::memory_order_relaxed); }
    void release(size_t count = 1) noexcept;

    // What follows is for blocks in memory. Copies length bytes from application memory to offset.
    void write(size_t offset, const void *from, size_t length) noexcept;

    // The same, with copy_past_caches() unless checksums have to be computed.
    void write_past_caches(size_t offset, const void *from, size_t length) noexcept;

    // Whether the pages that hold these bytes match their checksums.
    bool intact(size_t offset, size_t length) const noexcept;

    // Whatever is in these pages, it is not what was once stored.
    void mark_damaged(size_t offset, size_t length) noexcept;

private:
    enum class PageState : uint8_t { unwritten, sealed, damaged };
    struct Page {
        uint32_t crc = 0;
        PageState state = PageState::unwritten;
    };

    Block() = default;
    ~Block();

    size_t page_length(size_t index) const;
    uint32_t page_crc(size_t index) const;
    bool page_intact(size_t index) const;
    void write_sealed(size_t offset, const std::byte *from, size_t length,
                      decltype(copy_crc32c) *copy_whole_page) noexcept;

    std::byte *data_ = nullptr;
    size_t size_ = 0;
    size_t pooled_ = 0; // size in the page pool; 0: from the heap
    Page *pages_ = nullptr;
    std::unique_ptr<Backing> backing_;
    std::atomic<size_t> references_ = 1;
};

// Shared ownership of part of a block. Empty, or knows its block and the offset of the bytes in it;
// the length is that of the entry that holds it.
class Piece {
public:
    Piece() = default;
    Piece(Block &block, size_t offset) : block_(&block), offset_(offset) { block.retain(); }

    // Takes over a reference that was obtained before.
    static Piece adopt(Block &block, size_t offset) {
        Piece piece;
        piece.block_ = &block;
        piece.offset_ = offset;
        return piece;
    }

    Piece(Piece &&other) noexcept : block_(other.block_), offset_(other.offset_) { other.forget(); }
    Piece &operator=(Piece &&other) noexcept {
        if (this != &other) {
            reset();
            block_ = other.block_;
            offset_ = other.offset_;
            other.forget();
        }
        return *this;
    }
    ~Piece() { reset(); }

    // Another owner of the bytes from offset on.
    Piece share(size_t offset = 0) const {
        return block_ ? Piece(*block_, offset_ + offset) : Piece();
    }

    // Another one of the same bytes, which counts as a user of so many.
    Piece share_use(size_t length) const {
        if (block_ != nullptr && block_->backing() != nullptr) {
            block_->backing()->use(length);
        }
        return share();
    }

    explicit operator bool() const { return block_ != nullptr; }
    Block &block() const { return *block_; }
    size_t offset() const { return offset_; }

    // Only for a block in memory.
    std::byte *at() const { return block_->data() + offset_; }
    void reset() noexcept {
        if (block_ != nullptr) {
            block_->release();
            forget();
        }
    }

    // The same for an owner that has counted as a user of so many bytes.
    void give_up(size_t length) noexcept {
        if (block_ != nullptr && block_->backing() != nullptr) {
            block_->backing()->lose(length);
        }
        reset();
    }

    // Whether these are all bytes of the block.
    bool is_whole(size_t length) const { return offset_ == 0 && block_->size() == length; }

    // Whether next continues this piece of the given length without a gap.
    bool continued_by(const Piece &next, size_t length) const {
        return block_ == next.block_ && (block_ == nullptr || offset_ + length == next.offset_);
    }

private:
    void forget() {
        block_ = nullptr;
        offset_ = 0;
    }

    Block *block_ = nullptr;
    size_t offset_ = 0;
};

} // namespace cd
