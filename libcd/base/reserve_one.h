// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <vector>

namespace cd {

// Makes the next push_back() unable to fail. Doubles the capacity, unlike reserve(size() + 1). May
// throw std::bad_alloc.
template <typename T> void reserve_one(std::vector<T> &vector) {
    if (vector.size() == vector.capacity()) {
        vector.reserve(2 * vector.size() + 1);
    }
}

} // namespace cd
