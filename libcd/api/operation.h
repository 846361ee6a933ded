// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/callback_scope.h"
#include "base/status.h"
#include "os/system.h"
#include "runtime/observer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace cd {

// What every function of the C API shares: no exception leaves it, the thread's last error is set,
// calls from callbacks are refused.

// The calling thread's code for cd_last_error.
void set_last_error(cd_error code);

inline Status out_of_memory() {
    return fail(CD_ERROR_NO_MEMORY, "there is no memory for this operation, which has changed "
                                    "nothing; free some and repeat it");
}

// Runs body, which returns a Status, and makes it the thread's last error.
template <typename Body> Status guarded(const Body &body) {
    Status status;
    if (CallbackScope::inside()) {
        status = fail(CD_ERROR_IN_CALLBACK,
                      "the library was called from inside a regen, verify or observer function; "
                      "return from it first");
    } else {
        try {
            status = body();
        } catch (const std::bad_alloc &) {
            status = out_of_memory();
        }
    }
    if (status.is_ok()) {
        clear_message();
    }
    set_last_error(status.code());
    return status;
}

inline int result_of(Status status) { return status.is_ok() ? CD_SUCCESS : CD_FAILURE; }

// For the observer: what an operation wants to tell beyond its result.
class Report {
public:
    // The CD's identity, which may not outlive the operation.
    void about(const char *name) {
        if (observed_) {
            std::strncpy(name_, name, sizeof name_ - 1);
        }
    }
    void copied(size_t bytes) { bytes_ = bytes; }

private:
    template <typename Body> friend Status observed(cd_operation operation, const Body &body);

    bool observed_ = false;
    char name_[256] = "";
    size_t bytes_ = 0;
};

// As guarded(), and tells the observer, if there is one. body takes a Report.
template <typename Body> Status observed(cd_operation operation, const Body &body) {
    Observer *listener = observer.load(std::memory_order_acquire);
    Report report;
    if (listener == nullptr || CallbackScope::inside()) {
        return guarded([&] { return body(report); });
    }
    report.observed_ = true;
    const uint64_t start = os::system().monotonic_ns();
    const Status status = guarded([&] { return body(report); });
    const cd_event event = {operation,     status.code(), report.name_,
                            report.bytes_, start,         os::system().monotonic_ns() - start};
    // What the observer does wrong is told to the observer, and does not replace our outcome.
    const MessageKeeper keeper;
    notify(*listener, event);
    set_last_error(status.code());
    return status;
}

} // namespace cd
