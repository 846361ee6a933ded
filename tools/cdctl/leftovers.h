// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cdctl {

// A file that a program has for moments, and left because it was killed. The next start with its
// root removes it; where none comes it stays.
struct Leftover {
    std::string path;
    uint64_t bytes = 0;
};

// Those in directories of stores, and in the points in time there. What its writer has locked is
// none, but where locks work within a node only, one on another node is not seen. May throw.
std::vector<Leftover> find_leftovers(const std::vector<std::string> &directories);

// To standard error, and what may be done with them.
void tell_of(const std::vector<Leftover> &leftovers);
void describe(const std::vector<Leftover> &leftovers, Json &json);

} // namespace cdctl
