// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cd {

// A stretch of store memory that one operation filled. Entries hold pieces of it and share its
// ownership by counting; the last one frees it. Blocks of different CDs are independent; the
// bytes of one piece are written only under the lock of the CD that alone owns it.
//
// A checksummed block keeps a CRC-32C per page. Writing part of a page checks the page first, so
// that damage to its other bytes is never sealed with a fresh checksum.
class Block {
public:
    static constexpr size_t page = 4096;

    // nullptr when there is no memory. The creator holds one reference.
    static Block *create(size_t size, bool checksummed) noexcept;

    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    std::byte *data() { return data_; }
    size_t size() const { return size_; }
    bool checksummed() const { return pages_ != nullptr; }

    void retain(size_t count = 1) { references_.fetch_add(count, std::memory_order_relaxed); }
    void release(size_t count = 1) noexcept;

    // Copies length bytes from application memory to at, which lies in this block.
    void write(std::byte *at, const void *from, size_t length) noexcept;

    // The same, with copy_past_caches() unless checksums have to be computed.
    void write_past_caches(std::byte *at, const void *from, size_t length) noexcept;

    // Whether the pages that hold [at, at + length) match their checksums.
    bool intact(const std::byte *at, size_t length) const noexcept;

    // Whatever is in these pages, it is not what was once stored.
    void mark_damaged(const std::byte *at, size_t length) noexcept;

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
    void write_sealed(std::byte *at, const std::byte *from, size_t length) noexcept;

    std::byte *data_ = nullptr;
    size_t size_ = 0;
    size_t pooled_ = 0; // size in the page pool; 0: from the heap
    Page *pages_ = nullptr;
    std::atomic<size_t> references_ = 1;
};

// Shared ownership of part of a block. Empty, or knows its block and where the bytes start; the
// length is that of the entry that holds it.
class Piece {
public:
    Piece() = default;
    Piece(Block &block, std::byte *at) : block_(&block), at_(at) { block.retain(); }

    // Takes over a reference that was obtained before.
    static Piece adopt(Block &block, std::byte *at) {
        Piece piece;
        piece.block_ = &block;
        piece.at_ = at;
        return piece;
    }

    Piece(Piece &&other) noexcept : block_(other.block_), at_(other.at_) { other.forget(); }
    Piece &operator=(Piece &&other) noexcept {
        if (this != &other) {
            reset();
            block_ = other.block_;
            at_ = other.at_;
            other.forget();
        }
        return *this;
    }
    ~Piece() { reset(); }

    // Another owner of the bytes from offset on.
    Piece share(size_t offset = 0) const { return block_ ? Piece(*block_, at_ + offset) : Piece(); }

    explicit operator bool() const { return block_ != nullptr; }
    Block &block() const { return *block_; }
    std::byte *at() const { return at_; }
    void reset() noexcept {
        if (block_ != nullptr) {
            block_->release();
            forget();
        }
    }

    // Whether next continues this piece of the given length without a gap.
    bool continued_by(const Piece &next, size_t length) const {
        return block_ == next.block_ && (block_ == nullptr || at_ + length == next.at_);
    }

private:
    void forget() {
        block_ = nullptr;
        at_ = nullptr;
    }

    Block *block_ = nullptr;
    std::byte *at_ = nullptr;
};

} // namespace cd
