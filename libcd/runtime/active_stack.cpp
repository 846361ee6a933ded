// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/active_stack.h"

#include "base/callback_scope.h"
#include "runtime/registry.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

namespace cd {

namespace {

// Ends with the thread, or is made once more by what still calls the library then: functions that
// atexit() registered, destructors of static objects. That one is never freed.
// In the block of thread-local memory that is there from the start: the logger asks in every MPI
// call.
[[gnu::tls_model("initial-exec")]] constinit thread_local ActiveStack *stack = nullptr;

struct EndOfThread {
    ~EndOfThread() {
        delete stack;
        stack = nullptr;
    }
};

} // namespace

ActiveStack &ActiveStack::of_this_thread() {
    if (stack == nullptr) {
        static thread_local const EndOfThread end;
        (void)end;
        stack = new ActiveStack;
    }
    return *stack;
}

uint64_t ActiveStack::calling_thread() { return stack != nullptr ? stack->thread_ : 0; }

ActiveStack::ActiveStack() {
    static std::atomic<uint64_t> threads = 0;
    thread_ = ++threads;
}

ActiveStack::~ActiveStack() {
    if (CallbackScope::inside()) {
        return; // exit() from a regen function: this thread holds the locks, and nobody comes after
                // it
    }
    for (const cd_handle handle : handles_) {
        uint64_t generation = 0;
        Slot *slot = Registry::instance().find(handle, generation);
        const std::scoped_lock lock(slot->mutex);
        if (slot->generation == generation) {
            slot->resident->active_in = 0;
        }
    }
}

cd_handle ActiveStack::top() {
    while (!handles_.empty() && !Registry::instance().alive(handles_.back())) {
        handles_.pop_back();
    }
    return handles_.empty() ? nullptr : handles_.back();
}

LogStream *ActiveStack::active_log() noexcept {
    if (stack == nullptr || stack->handles_.empty()) {
        return nullptr;
    }
    const LogSeat &seat = stack->seat_;
    if (seat.slot_generation != nullptr &&
        seat.slot_generation->load(std::memory_order_acquire) == seat.generation) {
        return seat.stream.get();
    }
    return stack->find_log();
}

LogStream *ActiveStack::find_log() noexcept {
    seat_ = {};
    const cd_handle handle = top();
    if (handle == nullptr) {
        return nullptr;
    }
    uint64_t generation = 0;
    Slot *slot = Registry::instance().find(handle, generation);
    const std::scoped_lock lock(slot->mutex);
    if (slot->generation == generation) {
        seat_ = {&slot->generation, generation, slot->resident->log.shared_stream()};
    }
    return seat_.stream.get();
}

void ActiveStack::make_room() {
    if (handles_.size() == handles_.capacity()) {
        std::erase_if(handles_,
                      [](cd_handle handle) { return !Registry::instance().alive(handle); });
        // Twice of what is alive, so that many creations pass before these are looked at again.
        handles_.reserve(2 * handles_.size() + 1);
    }
}

void ActiveStack::remove(cd_handle handle) noexcept {
    const auto newest = std::find(handles_.rbegin(), handles_.rend(), handle);
    if (newest != handles_.rend()) {
        handles_.erase(std::next(newest).base());
    }
    seat_ = {};
}

} // namespace cd
