// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/group_sync.h"

namespace cd {

GroupSync::Mark GroupSync::mark() {
    const std::lock_guard lock(mutex_);
    return failures_;
}

Status GroupSync::force(Mark since) {
    std::unique_lock lock(mutex_);
    const uint64_t own = ++asked_;
    while (done_ < own) {
        if (runs_) {
            changed_.wait(lock);
            continue;
        }
        runs_ = true;
        const uint64_t all = asked_; // their writes came before
        lock.unlock();
        Status status = file_.sync_data();
        lock.lock();
        failures_ += status ? 0 : 1;
        done_ = all;
        runs_ = false;
        changed_.notify_all();
        if (!status) {
            return status;
        }
    }
    return check(since);
}

Status GroupSync::check(Mark since) const {
    return failures_ == since
               ? Status::ok()
               : fail(CD_ERROR_STORE_IO,
                      "%s: data of another call, and perhaps of this one, could not be forced to "
                      "the disk; the call has changed nothing and can be repeated",
                      file_.path());
}

} // namespace cd
