// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <atomic>

namespace cd {

// The interposition layer, or nullptr. Set once.
inline std::atomic<const cd_log_listener *> log_listener = nullptr;

inline void tell_boundary() {
    if (const cd_log_listener *listener = log_listener.load(std::memory_order_acquire)) {
        listener->boundary();
    }
}

inline void tell_forgotten(uint64_t family, cd_handle root) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener != nullptr && family != 0) {
        listener->forgotten(family, root);
    }
}

} // namespace cd
