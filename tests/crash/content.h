// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace crash {

// The bytes of a file. Copies share the pages that neither has changed since, so that a disk can be
// copied for each of the states that a crash may leave it in.
class Content {
public:
    uint64_t size() const { return size_; }

    // The new bytes read as 0.
    void grow(uint64_t size);
    void cut(uint64_t size);
    // Bytes behind the end are dropped.
    void write(uint64_t offset, const std::byte *from, uint64_t length);
    // How many bytes there were.
    uint64_t read(uint64_t offset, std::byte *to, uint64_t length) const;
    void copy_from(const Content &other, uint64_t begin, uint64_t end);

private:
    static constexpr uint64_t page_size = 4096;
    using Page = std::array<std::byte, page_size>;

    static uint64_t up(uint64_t size) { return (size + page_size - 1) / page_size * page_size; }

    uint64_t size_ = 0;
    std::vector<std::shared_ptr<Page>> pages_; // nullptr: zeros; who shares one leaves it as it is
};

} // namespace crash
