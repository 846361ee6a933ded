// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "mpi_log/log.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace cd {

// The active CDs of one thread, last in first out. A CD is in the stack of the thread that created
// it until it ends; stale handles are removed when they are met. When the thread ends its CDs live
// on, active nowhere.
class ActiveStack {
public:
    // May throw std::bad_alloc at a thread's first call.
    static ActiveStack &of_this_thread();

    ActiveStack(const ActiveStack &) = delete;
    ActiveStack &operator=(const ActiveStack &) = delete;

    // Returns the calling thread's number, 0 if it has not used the library. Allocates nothing.
    static uint64_t calling_thread();

    // Returns a number that no other thread has or had; never 0.
    uint64_t thread() const { return thread_; }

    // Returns the active CD, or nullptr.
    cd_handle top() noexcept;
    // Returns the calling thread's active CD, or nullptr. Allocates nothing.
    static cd_handle active() noexcept { return stack_ != nullptr ? stack_->top() : nullptr; }

    // Returns the address of a number that is 0 while the calling thread has no active CD.
    static const int *possible() noexcept { return &may_have_cd_; }

    // Returns the log of the calling thread's active CD, or nullptr. Takes no lock and allocates
    // nothing unless the active CD has changed since the last call.
    static Log *active_log() noexcept {
        ActiveStack *const stack = stack_;
        if (stack == nullptr) {
            return nullptr;
        }
        if (stack->knows_log()) [[likely]] {
            return stack->known_.log.get();
        }
        return !stack->handles_.empty() ? stack->find_log() : nullptr;
    }

    // Returns the log if it is known at once and no entry is open in it; else nullptr.
    static Log *log_if_known() noexcept {
        ActiveStack *const stack = stack_;
        const bool is_known = stack != nullptr && stack->knows_log() && stack->open_ == nullptr;
        return is_known ? stack->known_.log.get() : nullptr;
    }

    // Returns the log in which the calling thread has an open entry, or nullptr.
    static Log *open_log() noexcept { return stack_ != nullptr ? stack_->open_ : nullptr; }
    // Sets the log in which the calling thread has an open entry.
    static void set_open_log(Log *log) noexcept { stack_->open_ = log; }

    // Makes the next push() unable to fail. May throw std::bad_alloc.
    void reserve_room();
    void push(cd_handle handle) {
        handles_.push_back(handle);
        may_have_cd_ = 1;
        forget_log();
    }

    // Removes ended CDs from the top of the calling thread's stack. Ended CDs below it are removed
    // when they come to the top, or when the stack needs their room.
    static void look_for_ended() noexcept;

    // Forgets, in a forked process, the log of the calling thread's active CD without freeing it.
    static void leave_log_to_parent_process() noexcept;

    ~ActiveStack();

private:
    // The active CD's log. Valid while the CD's slot has this generation.
    struct KnownLog {
        static inline constinit const std::atomic<uint64_t> nowhere = 0;
        const std::atomic<uint64_t> *slot_generation = &nowhere;
        uint64_t generation = 1; // which nowhere never has
        std::shared_ptr<Log> log;
    };

    ActiveStack();
    static void end_of_thread(void *stack);
    bool knows_log() const noexcept {
        return known_.slot_generation->load(std::memory_order_acquire) == known_.generation;
    }
    Log *find_log() noexcept;
    void forget_log() noexcept;

    // Freed when the thread ends, except for the main thread. Initial-exec, since the logger reads
    // it in every MPI call.
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ActiveStack *stack_ =
        nullptr;

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int may_have_cd_ = 0;

    uint64_t thread_;
    std::vector<cd_handle> handles_;
    KnownLog known_;
    Log *open_ = nullptr;
};

} // namespace cd
