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

// What every function of the C API shares: no exception leaves it, the thread's last error is set,
// calls from callbacks are refused.

// The calling thread's code for cd_last_error.
void set_last_error(cd_error code);

// For what does not know how much it was that there was not.
inline Status out_of_memory(const char *call) {
    return fail(CD_ERROR_NO_MEMORY,
                "%s: there is no memory for this call, which has changed nothing; free some and "
                "repeat it",
                call);
}

// Runs body, which returns a Status, and makes it the thread's last error. call: the function of
// the API that this is, for messages; who is that function need not say it.
template <typename Body> Status guarded(const Body &body, const char *call = __builtin_FUNCTION()) {
    Status status;
    if (CallbackGuard::inside()) {
        status = fail(CD_ERROR_IN_CALLBACK,
                      "the library was called from inside a regen, verify or observer function, "
                      "or after longjmp out of one; such a function has to return");
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

// For the observer: what an operation wants to tell beyond its result.
class Report {
public:
    // And no more, as long as nobody observes.
    explicit Report(std::optional<cd_operation> operation) : operation_(operation) {
        name_[0] = '\0';
    }

    // The CD's identity, which may not outlive the operation. What was told of another attempt at
    // the operation is forgotten.
    void about(const char *name) {
        if (observed_) {
            std::strncpy(name_, name, sizeof name_ - 1);
            name_[sizeof name_ - 1] = '\0';
            parts_.clear();
        }
    }
    void copied(size_t bytes) { bytes_ = bytes; }

    // What else happens to the named CD if the operation succeeds; it is told first. May throw
    // std::bad_alloc.
    void also(cd_operation part, const char *name) {
        if (observed_) {
            parts_.push_back({part, CD_ERROR_NONE, name});
        }
    }
    // The same for the CD that it is about, and cannot fail.
    void also_ends_replay() { ends_replay_ = true; }
    // How what was told last ended.
    void also_came_to(cd_error error) {
        if (observed_) {
            parts_.back().error = error;
        }
    }

private:
    template <typename Body>
    friend Status observed(Report &report, const Body &body, const char *call);

    void tell(Observer &listener, Status status, uint64_t start) const {
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
    std::optional<cd_operation> operation_; // none: only what else happens is told
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
    // What the observer does wrong is told to the observer, and does not replace our outcome.
    const SavedMessage keeper;
    report.tell(*listener, status, start);
    set_last_error(status.code());
    return status;
}

// As guarded(), and tells the observer, if there is one. body takes a Report.
template <typename Body>
Status observed(cd_operation operation, const Body &body, const char *call = __builtin_FUNCTION()) {
    Report report(operation);
    return observed(report, body, call);
}

// The same for what is no operation of its own, but may end a replay.
template <typename Body>
Status observed_as_part(const Body &body, const char *call = __builtin_FUNCTION()) {
    Report report(std::nullopt);
    return observed(report, body, call);
}

} // namespace cd
