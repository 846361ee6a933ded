// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/active_stack.h"

#include "base/status.h"
#include "os/thread_exit.h"
#include "runtime/registry.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace cd {

void ActiveStack::end_of_thread(void *stack) {
    delete static_cast<ActiveStack *>(stack);
    stack_ = nullptr;
    may_have_cd_ = 0;
}

ActiveStack &ActiveStack::of_this_thread() {
    if (stack_ == nullptr) {
        std::unique_ptr<ActiveStack> stack(new ActiveStack);
        if (!reserve_message() || !os::ThreadExit<end_of_thread>::set_value(stack.get())) {
            throw std::bad_alloc();
        }
        stack_ = stack.release();
    }
    return *stack_;
}

uint64_t ActiveStack::calling_thread() { return stack_ != nullptr ? stack_->thread_ : 0; }

ActiveStack::ActiveStack() {
    static std::atomic<uint64_t> threads = 0;
    thread_ = ++threads;
}

ActiveStack::~ActiveStack() {
    forget_log();
    for (const cd_handle handle : handles_) {
        // Without the slot's lock, whose holder may wait for the end of this thread.
        uint64_t generation = 0;
        uint64_t here = thread_;
        Registry::instance().find(handle, generation)->active_in.compare_exchange_strong(here, 0);
    }
}

cd_handle ActiveStack::top() noexcept {
    while (!handles_.empty() && !Registry::instance().alive(handles_.back())) {
        handles_.pop_back();
    }
    may_have_cd_ = handles_.empty() ? 0 : 1;
    return handles_.empty() ? nullptr : handles_.back();
}

Log *ActiveStack::find_log() noexcept {
    if (open_ != nullptr) {
        return open_;
    }
    forget_log();
    const cd_handle handle = top();
    if (handle == nullptr) {
        return nullptr;
    }
    uint64_t generation = 0;
    Slot *slot = Registry::instance().find(handle, generation);
    std::unique_lock lock(slot->mutex);
    if (slot->generation == generation) {
        known_ = {&slot->generation, generation, slot->resident->log.shared_log()};
    }
    lock.unlock();
    if (known_.log != nullptr) {
        known_.log->own();
    }
    return known_.log.get();
}

void ActiveStack::forget_log() noexcept {
    if (known_.log != nullptr) {
        known_.log->disown();
    }
    known_ = {};
}

void ActiveStack::reserve_room() {
    if (handles_.size() == handles_.capacity()) {
        std::erase_if(handles_,
                      [](cd_handle handle) { return !Registry::instance().alive(handle); });
        // Twice the live ones, so that many creations pass before the next cleanup.
        handles_.reserve(2 * handles_.size() + 1);
    }
}

void ActiveStack::look_for_ended() noexcept {
    if (stack_ != nullptr) {
        stack_->top();
        stack_->forget_log();
    }
}

void ActiveStack::leave_log_to_parent_process() noexcept {
    if (stack_ != nullptr) {
        new (&stack_->known_) KnownLog;
        stack_->open_ = nullptr;
    }
}

} // namespace cd
