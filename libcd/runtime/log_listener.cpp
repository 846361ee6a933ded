// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/log_listener.h"

namespace cd {
namespace {

// Its replay goes on from there, also where the listener has no memory to look further.
class Rereading {
public:
    explicit Rereading(LogStream &log) : log_(log), cursor_(log.cursor()) {}
    Rereading(const Rereading &) = delete;
    Rereading &operator=(const Rereading &) = delete;
    ~Rereading() { log_.put_back(cursor_); }

private:
    LogStream &log_;
    const LogStream::Position cursor_;
};

} // namespace

void tell_left(cd_handle cd, const std::vector<std::shared_ptr<LogStream>> &logs) {
    const cd_log_listener *listener = log_listener.load(std::memory_order_acquire);
    if (listener == nullptr || logs.empty()) {
        return;
    }
    for (const std::shared_ptr<LogStream> &log : logs) {
        const Rereading rereading(*log);
        size_t length = 0;
        while (const void *entry = log->next(length)) {
            listener->left(cd, entry, length);
        }
    }
    listener->left(cd, nullptr, 0);
}

} // namespace cd
