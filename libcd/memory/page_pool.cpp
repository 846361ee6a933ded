// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/page_pool.h"

#include "os/system.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace cd {
namespace {

constexpr int longest_search = 32; // bounds the time spent looking for a fit

size_t bin_of(size_t size) { return static_cast<size_t>(std::bit_width(size)) - 1; }

size_t round_up(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

} // namespace

PagePool &PagePool::instance() {
    // Never destroyed, since CDs may outlive static objects; needs no memory to be made.
    static constinit PagePool pool;
    static_assert(std::is_trivially_destructible_v<PagePool>);
    return pool;
}

size_t PagePool::rounded(size_t size) {
    return round_up(size, size >= 2 * huge_page ? huge_page : small_page);
}

void *PagePool::take(size_t &size) noexcept {
    if (size > SIZE_MAX / 2) {
        return nullptr;
    }
    size = rounded(size);
    size_t use = 0;
    Free *surplus = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        void *kept = take_kept(size);
        in_use_ += size;
        use = in_use_;
        if (kept != nullptr) {
            highest_use_ = std::max(highest_use_, use);
            return kept;
        }
        surplus = detach_surplus(highest_use_ > use ? highest_use_ - use : 0);
    }
    unmap(surplus);
    void *at = os::system().map_pages(size);
    if (at == nullptr && trim()) { // kept regions that do not fit may be the missing memory
        at = os::system().map_pages(size);
    }
    const std::scoped_lock lock(mutex_);
    if (at != nullptr) {
        highest_use_ = std::max(highest_use_, use);
    } else {
        in_use_ -= size;
    }
    return at;
}

void PagePool::give(void *at, size_t size) noexcept {
    const std::scoped_lock lock(mutex_);
    auto *region = static_cast<Free *>(at);
    Free *&bin = bins_[bin_of(size)];
    *region = {bin, size};
    bin = region;
    in_use_ -= size;
    kept_ += size;
}

// Takes the first region that fits and is at most twice as large as asked for.
void *PagePool::take_kept(size_t &size) noexcept {
    const size_t first = bin_of(size);
    for (size_t bin = first; bin <= first + 1 && bin < bins_.size(); ++bin) {
        int looked_at = 0;
        for (Free **link = &bins_[bin]; *link != nullptr && looked_at < longest_search;
             link = &(*link)->next, ++looked_at) {
            Free *region = *link;
            if (region->size >= size && region->size <= 2 * size) {
                *link = region->next;
                size = region->size;
                kept_ -= size;
                return region;
            }
        }
    }
    return nullptr;
}

PagePool::Free *PagePool::detach_surplus(size_t kept) noexcept {
    Free *surplus = nullptr;
    for (Free *&bin : bins_) {
        while (kept_ > kept && bin != nullptr) {
            Free *region = bin;
            bin = region->next;
            region->next = surplus;
            surplus = region;
            kept_ -= region->size;
        }
    }
    return surplus;
}

void PagePool::unmap(Free *regions) noexcept {
    while (regions != nullptr) {
        Free *region = regions;
        regions = region->next;
        os::system().unmap_pages(region, region->size);
    }
}

bool PagePool::trim() noexcept {
    Free *all = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        all = detach_surplus(0);
    }
    unmap(all);
    return all != nullptr;
}

} // namespace cd
