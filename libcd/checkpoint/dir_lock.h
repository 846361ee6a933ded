// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint_dir.h"
#include "file_store/file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cd::checkpoint {

// Who uses a directory of points in time. Several ranks of a job may use the same.
struct User {
    uint64_t session = 0; // of the job
    int rank = 0;
    std::string node;
};

// That one job at a time uses a directory: each user has a file of its own in it, locked. The
// system forgets that when the process ends, however it does; the file may stay.
class DirLock {
public:
    DirLock(std::string path, File file);
    DirLock(const DirLock &) = delete;
    DirLock &operator=(const DirLock &) = delete;
    ~DirLock();

    // CD_ERROR_STORE_LOCKED says which process of another job is there; of two that come at the
    // same time one is refused, or both are. Where files cannot be locked nobody is. Makes the
    // directory again where it has gone. May throw std::bad_alloc.
    static Status take(const std::string &directory, const User &user,
                       std::unique_ptr<DirLock> &lock);
    // The ranks of a job that use the directory, from whichever nodes. May throw std::bad_alloc.
    static Status find_users(const std::string &directory, uint64_t session,
                             std::vector<int> &ranks);

    // CD_ERROR_STORE_LOCKED says which process uses the directory. This one does not. session:
    // whose users do not count.
    static Status check_unused(const std::string &directory,
                               std::optional<uint64_t> session = std::nullopt);

    // Whether a file of this name is a user's.
    static bool is_name(std::string_view name);

    // Removes what processes left that were killed.
    static void remove_what_the_dead_left(const std::string &directory, uint64_t session);

private:
    std::string path_;
    File file_;
};

// A directory of checkpoints that a start uses.
struct OpenStore {
    CheckpointDir folder;
    bool reports = false;                    // this rank reports what is in it
    std::unique_ptr<DirLock> lock = nullptr; // of reporters
};

// Ends the locks and removes directories in which there is nothing.
void close_stores(std::vector<OpenStore> &stores) noexcept;

} // namespace cd::checkpoint
