// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/page_pool.h"
#include "os/system.h"

#include <cstddef>
#include <memory>
#include <new>

namespace cd {

// Allocates large containers in huge pages of their own, which the kernel provides in one go. For
// containers that are made once in their final size.
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
    // Sizes that overflow are left to std::allocator, which refuses them.
    static bool is_large(size_t count) {
        return count >= 2 * huge_page / sizeof(T) && count <= SIZE_MAX / 2 / sizeof(T);
    }
};

} // namespace cd
