// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/log_listener.h"

#include <cstddef>

namespace cd {

void notify_left(cd_handle cd, const std::vector<std::shared_ptr<Log>> &logs) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener == nullptr || logs.empty()) {
        return;
    }
    std::vector<std::byte> entry;
    entry.reserve(1); // gives an empty entry an address
    for (const std::shared_ptr<Log> &log : logs) {
        Log::Position position = log->cursor();
        while (log->copy_next(position, entry)) {
            listener->left(cd, entry.data(), entry.size());
        }
    }
    listener->left(cd, nullptr, 0);
}

} // namespace cd
