// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "step.h"

#include <cstdint>
#include <vector>

namespace model {

// The same seed and length give the same program on every machine. Most calls are legal; the rest
// have something wrong, usually one thing.
std::vector<Step> generate(uint64_t seed, int length);

} // namespace model
