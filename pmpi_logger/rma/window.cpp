// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rma/window.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace cd::logger {

Window::Memory Window::make_memory(size_t size) {
    return Memory(new (std::nothrow) std::byte[std::max<size_t>(size, 1)]);
}

std::unique_ptr<Window> Window::over(void *memory, size_t size) {
    auto window = std::make_unique<Window>();
    window->size_ = size;
    window->memory_ = static_cast<std::byte *>(memory);
    window->own_copy_ = make_memory(size);
    window->copy_ = window->own_copy_.get();
    return window->begins_with(window->memory_, window->copy_) ? std::move(window) : nullptr;
}

std::unique_ptr<Window> Window::beside(void *mpis, size_t size) {
    auto window = std::make_unique<Window>();
    window->size_ = size;
    window->copy_ = static_cast<std::byte *>(mpis);
    window->own_memory_ = make_memory(size);
    window->memory_ = window->own_memory_.get();
    return window->begins_with(window->copy_, window->memory_) ? std::move(window) : nullptr;
}

bool Window::begins_with(const std::byte *contents, std::byte *other) {
    agreed_ = make_memory(size_);
    if (other == nullptr || agreed_ == nullptr) {
        return false;
    }
    if (size_ > 0) {
        std::memcpy(other, contents, size_);
        std::memcpy(agreed_.get(), contents, size_);
    }
    return true;
}

void Window::copy_runs(const Runs &runs, const std::byte *from, std::byte *to) {
    for (const Run &run : runs) {
        std::memcpy(to + run.offset, from + run.offset, run.length);
    }
}

void Window::publish() {
    const std::scoped_lock lock(mutex_);
    thread_local Runs stored;
    stored.clear();
    add_differences(memory_, agreed_.get(), size_, stored);
    copy_runs(stored, memory_, copy_);
    copy_runs(stored, memory_, agreed_.get());
}

void Window::acquire(Runs &changed) {
    const std::scoped_lock lock(mutex_);
    const size_t before = changed.size();
    add_differences(copy_, agreed_.get(), size_, changed);
    for (size_t i = before; i < changed.size(); ++i) {
        // Read once: others may be writing.
        std::byte *const agreed = agreed_.get() + changed[i].offset;
        std::memcpy(agreed, copy_ + changed[i].offset, changed[i].length);
        std::memcpy(memory_ + changed[i].offset, agreed, changed[i].length);
    }
}

void Window::mpi_is_done() {
    freed_ = true;
    copy_ = nullptr;
    own_copy_.reset();
    agreed_.reset();
    accesses.clear();
    kept_.clear();
}

void Window::keep(int target, SendCopy &&sent) {
    const std::scoped_lock lock(mutex_);
    Kept &kept = kept_.emplace_back(); // without memory, sent is there still
    kept.target = target;
    kept.sent = std::move(sent);
}

void *Window::in_copy(const void *first, size_t bytes) const {
    const auto *at = static_cast<const std::byte *>(first);
    const bool inside = !freed_ && bytes > 0 && at >= memory_ && at + bytes <= memory_ + size_;
    return inside ? copy_ + (at - memory_) : nullptr;
}

Access *Window::find(uint64_t id) {
    const auto found =
        std::ranges::find_if(accesses, [id](const Access &access) { return access.id == id; });
    return id != 0 && found != accesses.end() ? &*found : nullptr;
}

} // namespace cd::logger
