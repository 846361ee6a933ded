// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>

namespace cd::logger {

// What a variable of the environment says. A value that is not understood is told on standard
// error, once, with what is, and counts as none.

// Which of the values it has; nothing where it is not set.
std::optional<size_t> choice_in(const char *variable, std::initializer_list<const char *> values);

// Not negative.
double seconds_in(const char *variable, double otherwise);
int count_in(const char *variable, int otherwise);

// In bytes, or with K, M or G; more than none.
size_t size_in(const char *variable, size_t otherwise);

} // namespace cd::logger
