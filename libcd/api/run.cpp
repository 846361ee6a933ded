// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// cd_run, made of the calls that a program could make itself

#include "api/api_call.h"
#include "cd/control.h"
#include "runtime/active_stack.h"
#include "runtime/family_lock.h"

#include <cstdio>
#include <string>
#include <vector>

namespace cd {
namespace {

// A body and its arguments.
struct Work {
    cd_run_options options;
    cd_body_fn body;
    void *context;
};

// Why a run of the body failed, for a message; "" if it did not.
struct Reason {
    char text[80] = "";
    bool none() const { return *text == '\0'; }
};

Status check_work(cd_handle parent, const Work &work) {
    if (parent == nullptr) {
        return fail(CD_ERROR_INVALID_HANDLE, "cd_run makes a child, and parent is NULL; create a "
                                             "root and pass it, or pass CURRENT_CD");
    }
    if (work.body == nullptr) {
        return fail(CD_ERROR_ARGUMENT, "cd_run: body is NULL; pass the function to run");
    }
    if (work.options.tries < 0) {
        return fail(CD_ERROR_ARGUMENT,
                    "cd_run: tries is %d; give at least 1, or 0 for the usual %d",
                    work.options.tries, CD_RUN_TRIES);
    }
    return Status::ok();
}

Reason call(cd_body_fn function, const char *name, cd_handle cd, void *context) {
    Reason reason;
    int returned = 0;
    if (!without_exceptions([&] { returned = function(cd, context); })) {
        std::snprintf(reason.text, sizeof reason.text, "%s threw a C++ exception", name);
    } else if (returned != 0) {
        std::snprintf(reason.text, sizeof reason.text, "%s returned %d", name, returned);
    }
    return reason;
}

// Runs the body, then asks for an injected failure after each run, so that the n-th occurrence is
// the n-th run.
Reason run_once(cd_handle cd, const Work &work) {
    Reason reason = call(work.body, "body", cd, work.context);
    const bool injected = cd_failed(cd) == 1;
    if (reason.none() && injected) {
        std::snprintf(reason.text, sizeof reason.text, "the failure was injected");
    }
    if (reason.none() && work.options.check != nullptr) {
        reason = call(work.options.check, "check", cd, work.context);
    }
    return reason;
}

// Returns the descendants that the body left, then the CD; without those of other threads.
std::vector<cd_handle> left_over(cd_handle cd) {
    std::vector<cd_handle> handles;
    FamilyLock lock;
    if (!lock.lock(cd, FamilyLock::Reach::family)) {
        return handles;
    }
    const uint64_t here = ActiveStack::of_this_thread().thread();
    for (const Domain *domain : subtree_of(lock.domain())) {
        const auto &resident = static_cast<const Resident &>(*domain);
        const uint64_t active_in = resident.slot->active_in;
        if (active_in == 0 || active_in == here) {
            handles.insert(handles.begin(), resident.handle);
        }
    }
    return handles;
}

// Commits the CD and its descendants, so that the parent can be restored. Keeps the thread's last
// error.
int escalate(cd_handle cd) {
    const SavedMessage keeper;
    const cd_error why = cd_last_error();
    std::vector<cd_handle> handles;
    const Status found = guarded([&] {
        handles = left_over(cd);
        return Status::ok();
    });
    if (found.is_ok()) {
        for (const cd_handle handle : handles) {
            commit_cd(handle);
        }
    }
    set_last_error(why);
    return CD_FAILURE;
}

int run(cd_handle cd, const Work &work) {
    const int tries = work.options.tries != 0 ? work.options.tries : CD_RUN_TRIES;
    for (int tried = 1;; ++tried) {
        const Reason reason = run_once(cd, work);
        if (reason.none()) {
            return commit_cd(cd) == CD_SUCCESS ? CD_SUCCESS : escalate(cd);
        }
        if (tried == tries) {
            const char *name = cd_name(cd);
            set_last_error(fail(CD_ERROR_RUN_FAILED,
                                "CD %s failed in each of its %d tries, at last because %s; restore "
                                "its parent",
                                name != nullptr ? name : "of cd_run", tries, reason.text)
                               .code());
            return escalate(cd);
        }
        if (restore_cd(cd) != CD_SUCCESS) {
            return escalate(cd);
        }
    }
}

} // namespace
} // namespace cd

extern "C" {

int cd_run(cd_handle parent, const cd_run_options *options, cd_body_fn body, void *context) {
    const cd::Work work = {options != nullptr ? *options : cd_run_options{}, body, context};
    if (const cd::Status status = cd::guarded([&] { return cd::check_work(parent, work); });
        !status) {
        return CD_FAILURE;
    }
    const cd_handle cd =
        create_cd(parent, work.options.storage_info, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
    return cd != nullptr ? cd::run(cd, work) : CD_FAILURE;
}

} // extern "C"
