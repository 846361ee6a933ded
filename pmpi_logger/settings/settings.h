// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>

namespace cd::logger {

// Reads variables of the environment. An invalid value counts as not set; it is reported once, with
// what is allowed.

// Returns the index of its value, or nothing if it is not set.
std::optional<size_t> choice_in(const char *variable, std::initializer_list<const char *> values);

// Returns a number that is not negative.
double seconds_in(const char *variable, double otherwise);

// Returns a size greater than 0, given in bytes or with K, M or G.
size_t size_in(const char *variable, size_t otherwise);

} // namespace cd::logger
