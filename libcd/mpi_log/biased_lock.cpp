// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/biased_lock.h"

#include "os/system.h"

#include <atomic>
#include <cstdint>
#include <thread>

namespace cd {
namespace {

constexpr int spins_before_yield = 100;

template <typename Busy> void wait_while(const Busy &busy) {
    for (int spins = 0; busy(); ++spins) {
        if (spins > spins_before_yield) {
            std::this_thread::yield();
        }
    }
}

// Without a guard, which another thread could hold for ever in a forked process. Two threads may
// both ask the system.
bool can_be_owned() noexcept {
    enum class Known : uint8_t { nothing, possible, impossible };
    static std::atomic<Known> known = Known::nothing;
    if (known == Known::nothing) {
        known = os::system().can_order_other_threads() ? Known::possible : Known::impossible;
    }
    return known == Known::possible;
}

} // namespace

void BiasedLock::own() noexcept {
    const void *nobody = nullptr;
    if (can_be_owned() && owner_.compare_exchange_strong(nobody, this_thread())) {
        // A thread that saw no owner has taken the lock by now; later ones see the owner.
        wait_while([this] { return taken_.load(); });
    }
}

void BiasedLock::disown() noexcept {
    if (is_mine()) {
        owner_.store(nullptr, std::memory_order_release);
    }
}

void BiasedLock::lock_slowly() noexcept {
    wait_while([this] { return taken_.exchange(true); });
    const void *owner = owner_.load();
    if (owner != nullptr && owner != this_thread()) {
        os::system().order_other_threads();
        wait_while([this] { return inside_.load(std::memory_order_acquire); });
    }
}

} // namespace cd
