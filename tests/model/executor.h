// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "step.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace model {

struct Mismatch {
    size_t step = 0;
    std::string what;
};

// Does the program with libcd and with the model side by side, and compares after each step:
// result, error code, memory, file positions, and everything that cd_query tells about every live
// CD.
std::optional<Mismatch> execute(const std::vector<Step> &program);

} // namespace model
