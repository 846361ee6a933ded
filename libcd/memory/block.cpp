// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/block.h"

#include "memory/copy.h"
#include "memory/crc32c.h"
#include "memory/page_pool.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace cd {

Block *Block::create(size_t size, bool checksummed) noexcept {
    auto *block = new (std::nothrow) Block;
    if (block == nullptr) {
        return nullptr;
    }
    block->size_ = size;
    if (size >= PagePool::smallest) {
        size_t taken = size;
        block->data_ = static_cast<std::byte *>(PagePool::instance().take(taken));
        block->pooled_ = block->data_ != nullptr ? taken : 0;
    } else {
        block->data_ = static_cast<std::byte *>(
            ::operator new (std::max<size_t>(size, 1), std::align_val_t{64}, std::nothrow));
    }
    if (block->data_ != nullptr && checksummed) {
        block->pages_ = new (std::nothrow) Page[(size + page - 1) / page];
    }
    if (block->data_ == nullptr || (checksummed && block->pages_ == nullptr)) {
        delete block;
        return nullptr;
    }
    return block;
}

Block *Block::create_backed(std::unique_ptr<Backing> backing, size_t size) noexcept {
    auto *block = new (std::nothrow) Block;
    if (block != nullptr) {
        block->backing_ = std::move(backing);
        block->size_ = size;
    }
    return block;
}

Block::~Block() {
    if (pooled_ != 0) {
        PagePool::instance().give(data_, pooled_);
    } else {
        ::operator delete (data_, std::align_val_t{64});
    }
    delete[] pages_;
}

void Block::release(size_t count) noexcept {
    if (references_.fetch_sub(count, std::memory_order_acq_rel) == count) {
        delete this;
    }
}

void Block::write(size_t offset, const void *from, size_t length) noexcept {
    if (pages_ == nullptr) {
        copy_through_caches(data_ + offset, from, length);
    } else {
        write_sealed(offset, static_cast<const std::byte *>(from), length, copy_crc32c);
    }
}

void Block::write_past_caches(size_t offset, const void *from, size_t length) noexcept {
    if (pages_ == nullptr) {
        copy_past_caches(data_ + offset, from, length);
    } else {
        write_sealed(offset, static_cast<const std::byte *>(from), length, copy_crc32c_past_caches);
        finish_past_caches();
    }
}

void Block::write_sealed(size_t offset, const std::byte *from, size_t length,
                         decltype(copy_crc32c) *copy_whole_page) noexcept {
    while (length > 0) {
        std::byte *at = data_ + offset;
        const size_t index = offset / page;
        const size_t part = std::min(length, index * page + page_length(index) - offset);
        Page &sealed = pages_[index];
        if (part == page_length(index)) {
            sealed = {copy_whole_page(0, at, from, part), PageState::sealed};
        } else {
            const bool was_intact = page_intact(index);
            if (sealed.state == PageState::unwritten) {
                std::memset(data_ + index * page, 0, page_length(index));
            }
            std::memcpy(at, from, part);
            sealed = {page_crc(index), was_intact ? PageState::sealed : PageState::damaged};
        }
        offset += part;
        from += part;
        length -= part;
    }
}

bool Block::intact(size_t offset, size_t length) const noexcept {
    if (pages_ == nullptr || length == 0) {
        return true;
    }
    const size_t first = offset / page;
    const size_t last = (offset + length - 1) / page;
    for (size_t index = first; index <= last; ++index) {
        if (!page_intact(index)) {
            return false;
        }
    }
    return true;
}

void Block::mark_damaged(size_t offset, size_t length) noexcept {
    if (pages_ == nullptr || length == 0) {
        return;
    }
    const size_t first = offset / page;
    const size_t last = (offset + length - 1) / page;
    for (size_t index = first; index <= last; ++index) {
        pages_[index].state = PageState::damaged;
    }
}

size_t Block::page_length(size_t index) const { return std::min(page, size_ - index * page); }

uint32_t Block::page_crc(size_t index) const {
    return crc32c(0, data_ + index * page, page_length(index));
}

bool Block::page_intact(size_t index) const {
    switch (pages_[index].state) {
    case PageState::unwritten:
        return true;
    case PageState::damaged:
        return false;
    case PageState::sealed:
        return pages_[index].crc == page_crc(index);
    }
    return false;
}

} // namespace cd
