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
        const uint64_t all = asked_; // who have written before
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
                      "%s: the data of another call could not be forced to the disk, and perhaps "
                      "what this one has written neither; the call has changed nothing and can be "
                      "repeated",
                      file_.path());
}

} // namespace cd
