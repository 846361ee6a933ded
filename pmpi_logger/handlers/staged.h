// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "intercept/course.h"
#include "requests/table.h"

namespace cd::logger {

// Whether MPI works on copies of what the program sends or receives.
inline bool is_staged(const Request *request) {
    return request != nullptr && !request->staging.empty();
}

// There is no memory. If one of the requests is staged, a call that has not been made is to fail:
// MPI would send old data, or the program never get what has come.
inline void fail_if_staged(const MPI_Request *requests, int count) {
    if (Course::is_made()) {
        return;
    }
    Course::set_incomplete(true); // until that is known
    bool some = false;
    for (int i = 0; i < count; ++i) {
        some = some || is_staged(RequestTable::instance().find(requests[i]));
    }
    Course::set_incomplete(some);
}

} // namespace cd::logger
