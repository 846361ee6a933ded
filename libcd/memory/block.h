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

// The place of a block's bytes outside of memory. Its destructor frees the place.
class Backing {
public:
    virtual ~Backing() = default;

    // Reads length bytes from offset on and verifies their checksums. May throw std::bad_alloc.
    virtual Status read(size_t offset, void *to, size_t length) const = 0;

    // Counts bytes that a CD begins, or ceases, to hold.
    virtual void use(size_t length) noexcept = 0;
    virtual void lose(size_t length) noexcept = 0;

    // True if only a small part of the place is still used.
    virtual bool is_sparse() const noexcept = 0;
};

// Memory for kept data that one operation filled. Entries own pieces of it by reference counting;
// the last one frees it. A piece is written under the lock of the CD that alone owns it.
//
// A checksummed block keeps a CRC-32C per page. Writing part of a page verifies the page first, so
// that damage to its other bytes never gets a fresh checksum. Unwritten bytes of a page are zero.
class Block {
public:
    static constexpr size_t page = 4096;

    // Allocates a block, or returns nullptr. The creator holds one reference.
    static Block *create(size_t size, bool checksummed) noexcept;

    // Makes a block whose bytes are in backing. The maker of the backing has written them.
    static Block *create_backed(std::unique_ptr<Backing> backing, size_t size) noexcept;

    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    // Null if the bytes are not in memory.
    std::byte *data() { return data_; }
    Backing *backing() const { return backing_.get(); }
    size_t size() const { return size_; }
    bool checksummed() const { return pages_ != nullptr; }

    // True if one piece alone owns the block.
    bool has_one_owner() const { return references_.load(std::memory_order_acquire) == 1; }

    void retain(size_t count = 1) { references_.fetch_add(count, std::memory_order_relaxed); }
    void release(size_t count = 1) noexcept;

    // For blocks in memory: copies length bytes from application memory to offset.
    void write(size_t offset, const void *from, size_t length) noexcept;

    // Copies past the caches, unless checksums have to be computed.
    void write_past_caches(size_t offset, const void *from, size_t length) noexcept;

    // True if the pages of these bytes match their checksums.
    bool intact(size_t offset, size_t length) const noexcept;

    // Marks the pages of these bytes as damaged.
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

// Shared ownership of part of a block: the block and an offset. The entry that holds the piece
// knows the length.
class Piece {
public:
    Piece() = default;
    Piece(Block &block, size_t offset) : block_(&block), offset_(offset) { block.retain(); }

    // Takes over an existing reference.
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

    // Returns another owner of the bytes from offset on.
    Piece share(size_t offset = 0) const {
        return block_ ? Piece(*block_, offset_ + offset) : Piece();
    }

    // Returns another owner of the same bytes, and counts length bytes as used.
    Piece share_use(size_t length) const {
        if (block_ != nullptr && block_->backing() != nullptr) {
            block_->backing()->use(length);
        }
        return share();
    }

    explicit operator bool() const { return block_ != nullptr; }
    Block &block() const { return *block_; }
    size_t offset() const { return offset_; }

    // Returns the address, for a block in memory.
    std::byte *at() const { return block_->data() + offset_; }
    void reset() noexcept {
        if (block_ != nullptr) {
            block_->release();
            forget();
        }
    }

    // Ends the ownership and the use of length bytes.
    void give_up(size_t length) noexcept {
        if (block_ != nullptr && block_->backing() != nullptr) {
            block_->backing()->lose(length);
        }
        reset();
    }

    // True if the piece is the whole block.
    bool is_whole(size_t length) const { return offset_ == 0 && block_->size() == length; }

    // True if next continues this piece of the given length without a gap.
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
