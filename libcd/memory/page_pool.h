// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace cd {

// Keeps freed page regions for the next large block, since a fresh page costs several times as much
// as copying into a warm one. In use + kept never exceeds the highest use so far.
//
// One for the process; thread-safe; nothing here throws.
class PagePool {
public:
    static PagePool &instance();

    // Regions from this size on come from the pool.
    static constexpr size_t smallest = size_t{64} << 10;

    // Returns the size that take() hands out for a request.
    static size_t rounded(size_t size);

    // Hands out at least size bytes and sets size. nullptr without memory.
    void *take(size_t &size) noexcept;
    void give(void *at, size_t size) noexcept;

    // For fork, which locks it. Threads that map pages outside of it hold the lock of a CD.
    std::mutex &mutex() { return mutex_; }

    // Unmaps all kept regions. False if there were none.
    bool trim() noexcept;

private:
    // The list node in a free region.
    struct Free {
        Free *next;
        size_t size;
    };

    void *take_kept(size_t &size) noexcept;

    // Removes regions until at most kept bytes are left, and returns them.
    Free *detach_surplus(size_t kept) noexcept;
    static void unmap(Free *regions) noexcept;

    // Not held while the system maps or unmaps, which takes long. Such regions count as in use.
    std::mutex mutex_;
    std::array<Free *, 64> bins_ = {}; // by the power of two below the size
    size_t in_use_ = 0;
    size_t kept_ = 0;
    size_t highest_use_ = 0;
};

} // namespace cd
