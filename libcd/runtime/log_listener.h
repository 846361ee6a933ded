// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include "mpi_log/log_stream.h"

#include <atomic>
#include <memory>

namespace cd {

// The interposition layer, or nullptr. Set once.
inline std::atomic<const cd_log_listener *> log_listener = nullptr;

inline void tell_boundary() {
    if (const cd_log_listener *listener = log_listener.load(std::memory_order_acquire)) {
        listener->boundary();
    }
}

// What a replay of the thread's has left in a log that is about to go. The log stays as it is. To
// be called outside of locks, as all of these.
void tell_left(const std::shared_ptr<LogStream> &log);

inline void tell_forgotten(uint64_t family, cd_handle root) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener != nullptr && family != 0) {
        listener->forgotten(family, root);
    }
}

} // namespace cd
