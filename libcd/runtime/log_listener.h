// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include "mpi_log/log.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cd {

// The interposition layer, or nullptr. Set once.
inline std::atomic<const cd_log_listener *> log_listener = nullptr;

inline void tell_boundary() {
    if (const cd_log_listener *listener = log_listener.load(std::memory_order_acquire)) {
        listener->boundary();
    }
}

// What replays have left in logs that are about to go with that of cd. They stay as they are. To be
// called outside of locks, as all of these; the listener may throw std::bad_alloc.
void tell_left(cd_handle cd, const std::vector<std::shared_ptr<Log>> &logs);

inline void tell_forgotten(uint64_t family, cd_handle root) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener != nullptr && family != 0) {
        listener->forgotten(family, root);
    }
}

} // namespace cd
