// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/protection.h"

#include <map>
#include <mutex>
#include <string>

namespace cd::checkpoint {

// Those that live in a process. Threads may add them in another order than those of another rank:
// they are left in the order of their roots' names, which is the same everywhere.
class Protections {
public:
    void add(Protection &protection); // may throw std::bad_alloc
    void remove(const Protection &protection) noexcept;

    // The rank ends: first tells that to others, in all of them, and then waits.
    void begin_to_leave() noexcept;
    void leave() noexcept;

private:
    std::mutex mutex_;
    std::map<std::string, Protection *> by_root_;
};

} // namespace cd::checkpoint
