// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <atomic>

namespace cd {

// The listener of the interposition layer, or nullptr. Set once. Its functions are called without
// locks.
inline std::atomic<const cd_log_listener *> log_listener = nullptr;

inline void notify_boundary() {
    if (const cd_log_listener *listener = log_listener.load(std::memory_order_acquire)) {
        listener->boundary();
    }
}

// The listener may throw std::bad_alloc.
inline void notify_deleting(cd_handle cd) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener != nullptr && cd != nullptr) {
        listener->deleting(cd);
    }
}

inline void notify_forgotten(uint64_t family, cd_handle root) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener != nullptr && family != 0) {
        listener->forgotten(family, root);
    }
}

} // namespace cd
