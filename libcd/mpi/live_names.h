// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>
#include <vector>

namespace cd::mpi {

// The name of a root of this process, as long as nobody else may have one of that name: ranks that
// share a root share all of it. Thread-safe.
class LiveName {
public:
    explicit LiveName(std::string name); // may throw std::bad_alloc
    LiveName(const LiveName &) = delete;
    LiveName &operator=(const LiveName &) = delete;
    ~LiveName() { give_up(); }

    void give_up() noexcept;

    // Of all of them. May throw std::bad_alloc.
    static std::vector<std::string> all();

private:
    std::string name_; // "": given up
};

} // namespace cd::mpi
