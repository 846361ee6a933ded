// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint_dir.h"
#include "file_store/file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cd::checkpoint {

// A process that uses a directory of checkpoints. Several ranks of a job may use the same.
struct User {
    uint64_t session = 0; // of the job
    int rank = 0;
    std::string node;
};

// Lets one job at a time use a directory: each user has a locked file of its own in it. The system
// ends the lock with the process; the file may stay.
class DirLock {
public:
    DirLock(std::string path, File file);
    DirLock(const DirLock &) = delete;
    DirLock &operator=(const DirLock &) = delete;
    ~DirLock();

    // CD_ERROR_STORE_LOCKED names the process of another job that is there. Of two jobs that come
    // at the same time one is refused, or both. Where files cannot be locked none is. May throw
    // std::bad_alloc.
    static Status take(const std::string &directory, const User &user,
                       std::unique_ptr<DirLock> &lock);
    // Lowers `rank` to the first rank of a job that uses the directory, on any node. May throw
    // std::bad_alloc.
    static Status find_first_user(const std::string &directory, uint64_t session, int &rank);

    // CD_ERROR_STORE_LOCKED names a process that uses the directory. Takes no lock.
    static Status check_unused(const std::string &directory);

    // Removes the locks of processes that were killed.
    static void remove_stale(const std::string &directory, uint64_t session);

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

// Calls use(store, which) for each store that this rank reports, until one fails.
template <typename Stores, typename Use> Status each_reported(Stores &stores, const Use &use) {
    for (size_t i = 0; i < stores.size(); ++i) {
        if (Status status = stores[i].reports ? use(stores[i], i) : Status::ok(); !status) {
            return status;
        }
    }
    return Status::ok();
}

// Ends the locks and removes directories in which there is nothing.
void close_stores(std::vector<OpenStore> &stores) noexcept;

} // namespace cd::checkpoint
