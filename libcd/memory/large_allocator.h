// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/page_pool.h"
#include "os/system.h"

#include <cstddef>
#include <memory>
#include <new>

namespace cd {

// For containers that are made once, in the size that they keep: what is large lies in huge pages
// of its own, which the kernel provides in one go. The heap's pages come one by one, as each is
// touched, and took half of the time that a store with many entries opened in.
template <typename T> class LargeAllocator {
public:
    using value_type = T;

    LargeAllocator() = default;
    template <typename Other> // NOLINTNEXTLINE(google-explicit-constructor): containers convert
    LargeAllocator(const LargeAllocator<Other> & /*other*/) noexcept {}

    T *allocate(size_t count) {
        if (!is_large(count)) {
            return std::allocator<T>().allocate(count);
        }
        void *at = os::system().map_pages(PagePool::rounded(count * sizeof(T)));
        return at != nullptr ? static_cast<T *>(at) : throw std::bad_alloc();
    }

    void deallocate(T *at, size_t count) noexcept {
        if (is_large(count)) {
            os::system().unmap_pages(at, PagePool::rounded(count * sizeof(T)));
        } else {
            std::allocator<T>().deallocate(at, count);
        }
    }

    bool operator==(const LargeAllocator & /*other*/) const noexcept { return true; }

private:
    // What cannot be is for std::allocator to refuse.
    static bool is_large(size_t count) {
        return count >= 2 * huge_page / sizeof(T) && count <= SIZE_MAX / 2 / sizeof(T);
    }
};

} // namespace cd
