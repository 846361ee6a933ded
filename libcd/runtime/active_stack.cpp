// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/active_stack.h"

#include "os/system.h"
#include "runtime/registry.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace cd {

// A destructor of a thread_local object would do the same, but ends the process where there is no
// memory to remember it.
class ActiveStack::EndOfThread {
public:
    static bool will_forget(ActiveStack *stack) {
        return has_key() &&
               os::system().set_for_thread(static_cast<pthread_key_t>(key_), stack) == 0;
    }

private:
    static void forget(void *stack) {
        delete static_cast<ActiveStack *>(stack);
        stack_ = nullptr;
        possible_ = 0;
    }

    // Without a lock, which another thread's fork could leave locked for ever in the new process:
    // of two threads that create a key one gives it up.
    static bool has_key() {
        if (key_ != none) {
            return true;
        }
        pthread_key_t key = 0;
        if (os::system().create_thread_key(key, forget) != 0) {
            return false;
        }
        int64_t expected = none;
        if (!key_.compare_exchange_strong(expected, key)) {
            os::system().delete_thread_key(key);
        }
        return true;
    }

    static constexpr int64_t none = -1;
    static inline constinit std::atomic<int64_t> key_ = none;
};

ActiveStack &ActiveStack::of_this_thread() {
    if (stack_ == nullptr) {
        std::unique_ptr<ActiveStack> stack(new ActiveStack);
        if (!EndOfThread::will_forget(stack.get())) {
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
    leave_seat();
    for (const cd_handle handle : handles_) {
        if (!Registry::instance().alive(handle)) {
            continue; // what is in its slot now may wait for the end of this thread
        }
        uint64_t generation = 0;
        Slot *slot = Registry::instance().find(handle, generation);
        const std::scoped_lock lock(slot->mutex);
        if (slot->generation == generation) {
            slot->resident->active_in = 0;
        }
    }
}

cd_handle ActiveStack::top() noexcept {
    while (!handles_.empty() && !Registry::instance().alive(handles_.back())) {
        handles_.pop_back();
    }
    possible_ = handles_.empty() ? 0 : 1;
    return handles_.empty() ? nullptr : handles_.back();
}

LogStream *ActiveStack::find_log() noexcept {
    if (open_ != nullptr) {
        return open_; // whatever becomes of its CD meanwhile
    }
    leave_seat();
    const cd_handle handle = top();
    if (handle == nullptr) {
        return nullptr;
    }
    uint64_t generation = 0;
    Slot *slot = Registry::instance().find(handle, generation);
    std::unique_lock lock(slot->mutex);
    if (slot->generation == generation) {
        seat_ = {&slot->generation, generation, slot->resident->log.shared_stream()};
    }
    lock.unlock();
    if (seat_.stream != nullptr) {
        seat_.stream->own();
    }
    return seat_.stream.get();
}

void ActiveStack::leave_seat() noexcept {
    if (seat_.stream != nullptr) {
        seat_.stream->disown();
    }
    seat_ = {};
}

void ActiveStack::make_room() {
    if (handles_.size() == handles_.capacity()) {
        std::erase_if(handles_,
                      [](cd_handle handle) { return !Registry::instance().alive(handle); });
        // Twice of what is alive, so that many creations pass before these are looked at again.
        handles_.reserve(2 * handles_.size() + 1);
    }
}

void ActiveStack::look_for_ended() noexcept {
    if (stack_ != nullptr) {
        stack_->top();
        stack_->leave_seat();
    }
}

} // namespace cd
