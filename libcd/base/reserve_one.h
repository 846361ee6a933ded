// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <vector>

namespace cd {

// After it one push_back() cannot fail. Grows as push_back() does, so that a thousand calls do not
// move everything a thousand times, as reserve(size() + 1) would. May throw std::bad_alloc.
template <typename T> void reserve_one(std::vector<T> &vector) {
    if (vector.size() == vector.capacity()) {
        vector.reserve(2 * vector.size() + 1);
    }
}

} // namespace cd
