// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>

namespace crash {

// How many states of the disk a test has opened.
inline void report_states(size_t states) {
    testing::Test::RecordProperty("states", static_cast<int>(states));
    std::printf("             %zu states of the disk\n", states);
}

} // namespace crash
