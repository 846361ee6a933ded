// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/observer.h"

#include <mutex>

namespace cd {

void set_observer(cd_event_fn notify, void *context) {
    static std::mutex mutex;
    static Observer *latest = nullptr; // keeps the earlier ones reachable
    const std::scoped_lock lock(mutex);
    if (notify == nullptr) {
        observer = nullptr;
        return;
    }
    latest = new Observer{notify, context, latest};
    observer = latest;
}

} // namespace cd
