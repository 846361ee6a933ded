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
// it, until it ends, whoever ends it: that is found out by its handle.
// When the thread ends, its CDs live on but are active nowhere.
class ActiveStack {
public:
    // May throw std::bad_alloc at a thread's first call.
    static ActiveStack &of_this_thread();

    ActiveStack(const ActiveStack &) = delete;
    ActiveStack &operator=(const ActiveStack &) = delete;

    // The calling thread's number, 0 if it has not used the library. Allocates nothing.
    static uint64_t calling_thread();

    // Differs from that of every other thread, also ended ones; never 0.
    uint64_t thread() const { return thread_; }

    // The active CD, or nullptr.
    cd_handle top() noexcept;
    // That of the calling thread. Allocates nothing.
    static cd_handle active() noexcept { return stack_ != nullptr ? stack_->top() : nullptr; }

    // 0 there: the calling thread has no active CD.
    static const int *possible() noexcept { return &possible_; }

    // What the calling thread's active CD logs into, nullptr if nothing. Takes no lock and
    // allocates nothing unless the active CD is another one than at the last call.
    static Log *active_log() noexcept {
        ActiveStack *const stack = stack_;
        if (stack == nullptr) {
            return nullptr;
        }
        if (stack->seat_is_valid()) [[likely]] {
            return stack->seat_.stream.get();
        }
        return !stack->handles_.empty() ? stack->find_log() : nullptr;
    }

    // The same if that is known at once and no entry is open in it; else nullptr.
    static Log *log_at_hand() noexcept {
        ActiveStack *const stack = stack_;
        const bool is_at_hand =
            stack != nullptr && stack->seat_is_valid() && stack->open_ == nullptr;
        return is_at_hand ? stack->seat_.stream.get() : nullptr;
    }

    // The log into which the calling thread is writing an entry, or nullptr.
    static Log *open_log() noexcept { return stack_ != nullptr ? stack_->open_ : nullptr; }
    // The thread's active log is open from now on; nullptr: no more.
    static void set_open_log(Log *log) noexcept { stack_->open_ = log; }

    // May throw std::bad_alloc; then the next push() cannot.
    void reserve_room();
    void push(cd_handle handle) {
        handles_.push_back(handle);
        possible_ = 1;
        leave_seat();
    }

    // For who has ended CDs: the calling thread's stack forgets those on top at once, and others
    // when they come to be there, or when it needs their room: CDs may end in any order, and there
    // may be many.
    static void look_for_ended() noexcept;

    ~ActiveStack();

private:
    // Where the active CD's log is, as long as the CD's slot has the generation: it lives, and so
    // is in the stack.
    struct LogSeat {
        static inline constinit const std::atomic<uint64_t> nowhere = 0;
        const std::atomic<uint64_t> *slot_generation = &nowhere;
        uint64_t generation = 1; // which nowhere never has
        std::shared_ptr<Log> stream;
    };

    ActiveStack();
    static void end_of_thread(void *stack);
    bool seat_is_valid() const noexcept {
        return seat_.slot_generation->load(std::memory_order_acquire) == seat_.generation;
    }
    Log *find_log() noexcept;
    void leave_seat() noexcept;

    // Ends with the thread, or is made once more by what still calls the library then. That of the
    // main thread is never freed: exit() ends no thread.
    // In the block of thread-local memory that is there from the start: the logger asks in every
    // MPI call.
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ActiveStack *stack_ =
        nullptr;

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int possible_ = 0;

    uint64_t thread_;
    std::vector<cd_handle> handles_;
    LogSeat seat_;
    Log *open_ = nullptr;
};

} // namespace cd
