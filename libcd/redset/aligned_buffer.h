// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/erasure_code.h"

#include <cstddef>
#include <memory>
#include <new>

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

} // namespace cd::redset
