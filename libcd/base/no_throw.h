// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <exception>
#include <new>
#include <type_traits>

namespace cd {

// Runs body, which returns a Status or nothing, and turns exceptions into a Status. For code in
// which all ranks must reach the next collective call.
template <typename Body> Status catch_exceptions(const Body &body) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return Status::ok();
        } else {
            return body();
        }
    } catch (const std::bad_alloc &) {
        return fail(CD_ERROR_NO_MEMORY, "out of memory; free some and repeat the call");
    } catch (const std::exception &error) {
        return fail(CD_ERROR_STORE_IO, "%s", error.what());
    }
}

// Runs body and ignores its failure. The thread's message is unchanged.
template <typename Body> void best_effort(const Body &body) noexcept {
    const SavedMessage keeper;
    (void)catch_exceptions(body).is_ok();
}

} // namespace cd
