// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <unistd.h>

#include <functional>
#include <string>

namespace processes {

constexpr unsigned deadline = 60; // seconds that a process has

// What body returns in a process of its own, which fork makes; how the process ended, if it did
// otherwise.
std::string in_process(const std::function<std::string()> &body, pid_t (*fork)() = &::fork);

} // namespace processes
