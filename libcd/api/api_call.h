// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/callback_guard.h"
#include "base/status.h"
#include "os/system.h"
#include "runtime/observer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cd {

// The frame of every function of the C API: no exception leaves it, it sets the thread's last
// error, and it refuses calls from callbacks.

// Sets the calling thread's code for cd_last_error.
void set_last_error(cd_error code);

// Returns the error of a call for which there was no memory.
inline Status out_of_memory(const char *call) {
    return fail(CD_ERROR_NO_MEMORY,
                "%s: there is no memory for this call, which has changed nothing; free some and "
                "repeat it",
                call);
}

// Runs body, which returns a Status, and makes it the thread's last error. call: the name of the
// function of the API, for messages.
template <typename Body> Status guarded(const Body &body, const char *call = __builtin_FUNCTION()) {
    Status status;
    if (CallbackGuard::inside()) {
        status = fail(CD_ERROR_IN_CALLBACK,
                      "the library was called from inside a regen, verify or observer function, "
                      "or after longjmp out of one; return from that function first");
    } else {
        try {
            status = body();
        } catch (const std::bad_alloc &) {
            status = out_of_memory(call);
        }
    }
    if (status.is_ok()) {
        clear_message();
    }
    set_last_error(status.code());
    return status;
}

inline int result_of(Status status) { return status.is_ok() ? CD_SUCCESS : CD_FAILURE; }

// The events of one operation, for the observer.
class Report {
public:
    explicit Report(std::optional<cd_operation> operation) : operation_(operation) {
        name_[0] = '\0';
    }

    // Sets the CD's identity, and forgets the events of an earlier attempt at the operation.
    void about(const char *name) {
        if (observed_) {
            std::strncpy(name_, name, sizeof name_ - 1);
            name_[sizeof name_ - 1] = '\0';
            parts_.clear();
        }
    }
    void copied(size_t bytes) { bytes_ = bytes; }

    // Adds an event of the named CD, reported before the operation if that succeeds. May throw
    // std::bad_alloc.
    void also(cd_operation part, const char *name) {
        if (observed_) {
            parts_.push_back({part, CD_ERROR_NONE, name});
        }
    }
    // Adds the end of the CD's replay. Cannot fail.
    void also_ends_replay() { ends_replay_ = true; }
    // Sets the error of the event added last.
    void set_also_error(cd_error error) {
        if (observed_) {
            parts_.back().error = error;
        }
    }

private:
    template <typename Body>
    friend Status observed(Report &report, const Body &body, const char *call);

    void notify_all(Observer &listener, Status status, uint64_t start) const {
        const uint64_t duration = os::system().monotonic_ns() - start;
        if (status.is_ok()) {
            for (const Part &part : parts_) {
                notify(listener, {part.operation, part.error, part.name.c_str(), 0, start, 0});
            }
            if (ends_replay_) {
                notify(listener, {CD_OP_REPLAY_END, CD_ERROR_NONE, name_, 0, start, 0});
            }
        }
        if (operation_) {
            notify(listener, {*operation_, status.code(), name_, bytes_, start, duration});
        }
    }

    struct Part {
        cd_operation operation;
        cd_error error;
        std::string name;
    };

    bool observed_ = false;
    bool ends_replay_ = false;
    std::optional<cd_operation> operation_; // none: only the added events are reported
    char name_[256];
    size_t bytes_ = 0;
    std::vector<Part> parts_;
};

template <typename Body> Status observed(Report &report, const Body &body, const char *call) {
    Observer *listener = observer.load(std::memory_order_acquire);
    if (listener == nullptr || CallbackGuard::inside()) {
        return guarded([&] { return body(report); }, call);
    }
    report.observed_ = true;
    const uint64_t start = os::system().monotonic_ns();
    const Status status = guarded([&] { return body(report); }, call);
    // Errors of the observer's own calls do not replace the outcome of this one.
    const SavedMessage keeper;
    report.notify_all(*listener, status, start);
    set_last_error(status.code());
    return status;
}

// Runs body as guarded() does, and notifies the observer. body takes a Report.
template <typename Body>
Status observed(cd_operation operation, const Body &body, const char *call = __builtin_FUNCTION()) {
    Report report(operation);
    return observed(report, body, call);
}

// Runs body as observed() does, for a call that is no operation but may end a replay.
template <typename Body>
Status observed_as_part(const Body &body, const char *call = __builtin_FUNCTION()) {
    Report report(std::nullopt);
    return observed(report, body, call);
}

// Returns the next entry of the CD's log; nullptr at its end. Reports the end of a replay.
Status next_entry(cd_handle cd, Report &report, void *&entry, size_t &length);

} // namespace cd
