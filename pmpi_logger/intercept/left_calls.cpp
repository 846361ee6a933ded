// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "intercept/left_calls.h"

#include "mpi/reentry_guard.h"

#include <dlfcn.h>
#include <unwind.h>

namespace cd::logger {
namespace {

const void *library_of(const void *address) {
    Dl_info found = {};
    return dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

struct Walk {
    const void *own = nullptr; // this library
    bool has_left = false;     // the calls that ask are behind
    bool is_inside = false;
};

_Unwind_Reason_Code look_at(_Unwind_Context *frame, void *state) {
    auto &walk = *static_cast<Walk *>(state);
    const bool is_own =
        library_of(reinterpret_cast<const void *>(_Unwind_GetIP(frame))) == walk.own;
    walk.is_inside = is_own && walk.has_left;
    walk.has_left |= !is_own;
    return walk.is_inside ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

} // namespace

bool has_left_a_call() {
    if (!ReentryGuard::mpi()) {
        return false;
    }
    static const char here = 0;
    Walk walk;
    walk.own = library_of(&here);
    return _Unwind_Backtrace(look_at, &walk) == _URC_END_OF_STACK && !walk.is_inside;
}

} // namespace cd::logger
