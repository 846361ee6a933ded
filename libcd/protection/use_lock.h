// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"

#include <memory>
#include <string>

namespace cd::protection {

// That one job at a time uses a directory of points in time: a file in it that a process of the job
// has locked. The system forgets that when the process ends, however it does; the file may stay.
class UseLock {
public:
    UseLock(std::string path, File file, bool made);
    UseLock(const UseLock &) = delete;
    UseLock &operator=(const UseLock &) = delete;
    // Leaves the directory as it was found.
    ~UseLock();

    // node: where this process is. CD_ERROR_STORE_LOCKED says who has it. Where files cannot be
    // locked nobody is kept away. May throw std::bad_alloc.
    static Status take(const std::string &directory, const std::string &node,
                       std::unique_ptr<UseLock> &lock);

    // The directory is not needed any more.
    void remove() { made_ = true; }

private:
    std::string path_;
    File file_;
    bool made_; // by this process
};

} // namespace cd::protection
