// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cd {

// Forces a file's data to the disk, once for all threads that wait. The system reports a failed
// write once; this reports it to every thread whose writes it may concern. Thread-safe.
class GroupSync {
public:
    // file: outlives it.
    explicit GroupSync(const File &file) : file_(file) {}
    GroupSync(const GroupSync &) = delete;
    GroupSync &operator=(const GroupSync &) = delete;

    // Take a mark before the first write that is to be forced.
    using Mark = uint64_t;
    Mark mark();

    // Fails if any sync has failed since the mark.
    Status force(Mark since);

private:
    Status check(Mark since) const;

    const File &file_;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    uint64_t asked_ = 0; // calls so far
    uint64_t done_ = 0;  // calls that need not wait any more
    bool runs_ = false;
    Mark failures_ = 0;
};

} // namespace cd
