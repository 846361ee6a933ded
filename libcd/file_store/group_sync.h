// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cd {

// Forces a file's data to the disk for several threads, for all at once that wait for it. The
// system tells of what could not be written once, whoever asks: it is then told to everybody whose
// writes it may concern. Thread-safe.
class GroupSync {
public:
    // file: outlives it.
    explicit GroupSync(const File &file) : file_(file) {}
    GroupSync(const GroupSync &) = delete;
    GroupSync &operator=(const GroupSync &) = delete;

    // Taken before the first of the writes that are to be forced.
    using Mark = uint64_t;
    Mark mark();

    // Fails where any has failed since the mark.
    Status force(Mark since);

private:
    Status check(Mark since) const;

    const File &file_;
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    uint64_t asked_ = 0; // so many have asked for it
    uint64_t done_ = 0;  // so many of these need not wait any more
    bool runs_ = false;
    Mark failures_ = 0;
};

} // namespace cd
