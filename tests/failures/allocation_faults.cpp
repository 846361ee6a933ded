// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "allocation_faults.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace faults {
namespace {

struct Plan {
    size_t remaining = 0; // requests up to the one that fails
    bool armed = false;
    bool only_once = true;
    bool happened = false;
};

thread_local Plan plan;
std::atomic<long> live = 0;

bool due() {
    if (!plan.armed) {
        return false;
    }
    if (plan.remaining > 1) {
        --plan.remaining;
        return false;
    }
    plan.armed = !plan.only_once;
    plan.happened = true;
    return true;
}

} // namespace

void fail_request(size_t number, bool only_once) { plan = {number, number > 0, only_once, false}; }

bool happened() { return plan.happened; }

long live_blocks() { return live; }

void *System::map_pages(size_t size) {
    void *at = due() ? nullptr : cd::os::System::map_pages(size);
    mapped_ += at != nullptr ? 1 : 0;
    return at;
}

void System::unmap_pages(void *at, size_t size) {
    --mapped_;
    cd::os::System::unmap_pages(at, size);
}

static void *allocate(size_t size, size_t alignment) {
    if (due()) {
        return nullptr;
    }
    const size_t unit = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    void *at = std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size == 0 ? unit : 0));
    live += at != nullptr ? 1 : 0;
    return at;
}

static void release(void *at) {
    live -= at != nullptr ? 1 : 0;
    std::free(at);
}

} // namespace faults

// The replacements that the standard allows a program to make; the other forms end here.

void *operator new(size_t size) {
    void *at = faults::allocate(size, alignof(std::max_align_t));
    return at != nullptr ? at : throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment) {
    void *at = faults::allocate(size, static_cast<size_t>(alignment));
    return at != nullptr ? at : throw std::bad_alloc();
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
    return faults::allocate(size, alignof(std::max_align_t));
}
void *operator new(size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
    return faults::allocate(size, static_cast<size_t>(alignment));
}
void *operator new[](size_t size) { return operator new(size); }
void *operator new[](size_t size, const std::nothrow_t &nothrow) noexcept {
    return operator new(size, nothrow);
}
void operator delete(void *at) noexcept { faults::release(at); }
void operator delete(void *at, size_t) noexcept { faults::release(at); }
void operator delete(void *at, std::align_val_t) noexcept { faults::release(at); }
void operator delete(void *at, size_t, std::align_val_t) noexcept { faults::release(at); }
void operator delete[](void *at) noexcept { faults::release(at); }
void operator delete[](void *at, size_t) noexcept { faults::release(at); }
