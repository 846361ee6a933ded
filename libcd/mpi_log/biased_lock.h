// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>

namespace cd {

// A lock for what one thread uses all the time and others hardly ever. That thread, the owner,
// takes it with plain loads and stores, which do not wait for what the thread has written before:
// right after a call of MPI that is memory which another process holds. Whoever else comes makes
// the owner's stores visible with a system call first.
//
// Not recursive. To be held for short moments, except by the owner.
class BiasedLock {
public:
    BiasedLock() = default;
    BiasedLock(const BiasedLock &) = delete;
    BiasedLock &operator=(const BiasedLock &) = delete;

    // Makes the calling thread the owner, if there is none and the system can do what the others
    // need. It has to disown the lock before it ends.
    void own() noexcept;

    // Nothing, unless the calling thread is the owner; it may not hold the lock.
    void disown() noexcept;

    // Whether the calling thread is the owner.
    bool is_mine() const noexcept {
        return owner_.load(std::memory_order_relaxed) == this_thread();
    }

    void lock() noexcept {
        if (!is_mine() || !enter()) {
            lock_slowly();
        }
    }

    // As whoever is not the owner; false where that one, or somebody else, has it.
    [[nodiscard]] bool try_lock() noexcept;

    // In the owner's own way; false if that is not possible at once.
    [[nodiscard]] bool try_lock_as_owner() noexcept { return is_mine() && enter(); }

    void unlock() noexcept {
        if (is_mine() && inside_.load(std::memory_order_relaxed)) {
            inside_.store(false, std::memory_order_release);
        } else {
            taken_.store(false, std::memory_order_release);
        }
    }

    // What becomes 0 when the owner, who has taken it in its own way, releases it; for owners that
    // cannot call unlock(). An atomic, to be written from C.
    char *held_as_owner() noexcept { return reinterpret_cast<char *>(&inside_); }

    // In the new process after a fork, whose threads are gone but the calling one: nobody else
    // holds or owns the lock.
    void keep_for_this_thread() noexcept;

private:
    // Threads are told apart by the addresses of something that each has its own of.
    static const void *this_thread() noexcept {
        [[gnu::tls_model("initial-exec")]] static constinit thread_local char own = 0;
        return &own;
    }

    // First says that it is inside, then looks whether others are. They do it the other way round,
    // and with a barrier that holds for both sides; so one of them sees the other.
    bool enter() noexcept {
        inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (!taken_.load(std::memory_order_acquire)) {
            return true;
        }
        inside_.store(false, std::memory_order_release);
        return false;
    }
    void lock_slowly() noexcept;

    std::atomic<const void *> owner_ = nullptr;
    std::atomic<bool> inside_ = false; // the owner, by its own way; only it writes this
    static_assert(sizeof(std::atomic<bool>) == sizeof(char));
    std::atomic<bool> taken_ = false; // by anybody, in the slow way
};

} // namespace cd
