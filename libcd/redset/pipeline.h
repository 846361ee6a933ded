// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/erasure_code.h"
#include "redset/exchange.h"
#include "redset/layout.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>

namespace cd::redset {

struct FreeAligned {
    void operator()(std::byte *at) const {
        ::operator delete[](at, std::align_val_t{coding_alignment});
    }
};

using AlignedBuffer = std::unique_ptr<std::byte[], FreeAligned>;

// May throw std::bad_alloc.
inline AlignedBuffer make_aligned_buffer(size_t size) {
    return AlignedBuffer(new (std::align_val_t{coding_alignment}) std::byte[size]);
}

// A member's own files, from which rows are read and to which they are written. Each item is read
// or written from its beginning to its end, several of them in turns.
class Storage {
public:
    virtual ~Storage() = default;
    virtual Status read(Region region, uint64_t offset, std::span<std::byte> to) = 0;
    virtual Status write(Region region, uint64_t offset, std::span<const std::byte> from) = 0;
};

// Receives how many bytes of a pass over the data are done. May be empty.
using Progress = std::function<void(uint64_t done, uint64_t all)>;

// Computes all rows in one pass, by pieces, so that reading, sending, coding and writing overlap.
// Collective: every member passes the same rows. Each byte of a source is read once and sent at
// most once. A member whose storage fails takes part until the end; then all get its failure.
// Member 0 calls `progress` after each piece; it must not throw. Does not throw.
Status carry_out(Exchange &exchange, std::span<const Row> rows, Storage &storage,
                 const Progress &progress = {});

} // namespace cd::redset
