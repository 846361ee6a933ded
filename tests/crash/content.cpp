// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "content.h"

#include <algorithm>
#include <cstring>

namespace crash {

void Content::grow(uint64_t size) {
    if (size > size_) {
        size_ = size;
        pages_.resize(up(size) / page_size);
    }
}

void Content::cut(uint64_t size) {
    if (size < size_) {
        const std::vector<std::byte> zeros(std::min(size_, up(size)) - size);
        write(size, zeros.data(), zeros.size());
        size_ = size;
        pages_.resize(up(size) / page_size);
    }
}

void Content::write(uint64_t offset, const std::byte *from, uint64_t length) {
    const uint64_t end = std::min(offset + length, size_);
    while (offset < end) {
        std::shared_ptr<Page> &page = pages_[offset / page_size];
        const uint64_t within = offset % page_size;
        const uint64_t part = std::min(page_size - within, end - offset);
        if (page.use_count() != 1) {
            page = part == page_size ? std::make_shared_for_overwrite<Page>()
                   : page != nullptr ? std::make_shared<Page>(*page)
                                     : std::make_shared<Page>();
        }
        std::memcpy(page->data() + within, from, part);
        from += part;
        offset += part;
    }
}

uint64_t Content::read(uint64_t offset, std::byte *to, uint64_t length) const {
    if (offset >= size_) {
        return 0;
    }
    length = std::min(length, size_ - offset);
    for (uint64_t done = 0; done < length;) {
        const uint64_t within = (offset + done) % page_size;
        const uint64_t part = std::min(page_size - within, length - done);
        const Page *page = pages_[(offset + done) / page_size].get();
        if (page != nullptr) {
            std::memcpy(to + done, page->data() + within, part);
        } else {
            std::memset(to + done, 0, part);
        }
        done += part;
    }
    return length;
}

void Content::copy_from(const Content &other, uint64_t begin, uint64_t end) {
    end = std::min({end, size_, other.size_});
    std::vector<std::byte> bytes(end > begin ? end - begin : 0);
    other.read(begin, bytes.data(), bytes.size());
    write(begin, bytes.data(), bytes.size());
}

} // namespace crash
