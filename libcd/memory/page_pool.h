// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace cd {

// Keeps freed page regions for the next large block, because touching a fresh page costs several
// times as much as copying into a warm one. Free memory is kept only up to what was once in use
// at the same time: in use + kept never exceeds the highest use so far.
//
// One for the process; thread-safe; nothing here throws.
class PagePool {
public:
    static PagePool &instance();

    // Regions from this size on come from the pool.
    static constexpr size_t smallest = size_t{64} << 10;

    // The size that take() really hands out for a request.
    static size_t rounded(size_t size);

    // At least size bytes; size becomes what was handed out. nullptr when there is no memory.
    void *take(size_t &size) noexcept;
    void give(void *at, size_t size) noexcept;

    // For fork: nobody may be inside while the process is copied. Who maps pages outside the mutex
    // holds the lock of a CD, for which fork waits too.
    std::mutex &mutex() { return mutex_; }

    // Unmaps everything that is kept; returns whether there was anything.
    bool trim() noexcept;

private:
    // A free region holds its own list node, so keeping it needs no memory.
    struct Free {
        Free *next;
        size_t size;
    };

    void *take_kept(size_t &size) noexcept;

    // Takes so many kept regions out that at most kept bytes are left; returns a list of them.
    Free *detach_surplus(size_t kept) noexcept;
    static void unmap(Free *regions) noexcept;

    // Never held while the system maps or unmaps, which takes so long that independent CDs would
    // wait for each other. What is being mapped counts as in use.
    std::mutex mutex_;
    std::array<Free *, 64> bins_ = {}; // by the power of two below the size
    size_t in_use_ = 0;
    size_t kept_ = 0;
    size_t highest_use_ = 0;
};

} // namespace cd
