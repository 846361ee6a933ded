// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/log_listener.h"

#include "runtime/active_stack.h"

namespace cd {

void tell_left(const std::shared_ptr<LogStream> &log) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener == nullptr || log == nullptr || log.get() != ActiveStack::active_log() ||
        !log->replaying() || log->stopped()) {
        return;
    }
    const LogStream::Position cursor = log->cursor();
    size_t length = 0;
    while (const void *entry = log->next(length)) {
        listener->left(entry, length);
    }
    listener->left(nullptr, 0);
    log->put_back(cursor);
}

} // namespace cd
