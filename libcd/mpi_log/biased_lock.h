// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>

namespace cd {

// A lock that one thread, its owner, takes all the time and others hardly ever. The owner uses
// plain loads and stores, which do not wait for its earlier stores: after a call of MPI these wait
// for memory that another process holds. Other threads make a system call (membarrier) first.
//
// Not recursive. Other threads than the owner hold it for short moments only.
class BiasedLock {
public:
    BiasedLock() = default;
    BiasedLock(const BiasedLock &) = delete;
    BiasedLock &operator=(const BiasedLock &) = delete;

    // Makes the calling thread the owner, if there is none and the system has membarrier. The owner
    // disowns the lock before it ends.
    void own() noexcept;

    // Ends the ownership of the calling thread, which does not hold the lock.
    void disown() noexcept;

    // True if the calling thread is the owner.
    bool is_mine() const noexcept {
        return owner_.load(std::memory_order_relaxed) == this_thread();
    }

    void lock() noexcept {
        if (!is_mine() || !enter()) {
            lock_slowly();
        }
    }

    // Takes the lock as its owner; false if the calling thread is not, or the lock is held.
    [[nodiscard]] bool try_lock_as_owner() noexcept { return is_mine() && enter(); }

    void unlock() noexcept {
        if (is_mine() && inside_.load(std::memory_order_relaxed)) {
            inside_.store(false, std::memory_order_release);
        } else {
            taken_.store(false, std::memory_order_release);
        }
    }

    // Returns the flag that the owner sets to 0 to release the lock without unlock(), from C.
    char *held_as_owner() noexcept { return reinterpret_cast<char *>(&inside_); }

private:
    // Returns an address that differs between threads.
    static const void *this_thread() noexcept {
        [[gnu::tls_model("initial-exec")]] static constinit thread_local char own = 0;
        return &own;
    }

    // Sets inside_, then reads taken_. Other threads do it the other way round with a barrier for
    // both sides, so one of the two sees the other.
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
    std::atomic<bool> inside_ = false; // the owner holds the lock; only the owner writes it
    static_assert(sizeof(std::atomic<bool>) == sizeof(char));
    std::atomic<bool> taken_ = false; // by any thread, in the slow way
};

} // namespace cd
