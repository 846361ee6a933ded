// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/dir_lock.h"

#include "base/no_throw.h"
#include "base/text.h"
#include "file_store/directory.h"
#include "os/system.h"
#include "redset/kvtree.h"
#include "redset/member_files.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace cd::checkpoint {
namespace {

constexpr char beginning[] = "in-use-";

// Gives only the process where the file cannot be read.
std::string read_user(const File &file, pid_t holder) {
    char line[200] = "";
    const ssize_t length = os::system().read_at(file.descriptor(), line, sizeof line - 1, 0);
    return length > 0 ? std::string(line, std::strcspn(line, "\n"))
                      : "process " + std::to_string(holder);
}

std::string prefix_of(uint64_t session) {
    char prefix[sizeof beginning + 17];
    std::snprintf(prefix, sizeof prefix, "%s%016" PRIx64 "-", beginning, session);
    return prefix;
}

// Looks at the lock files of other sessions. It must not lock them, since ranks of one job look at
// the same moment. Closing a lock file of this process would end its lock.
Status check_alone(const std::string &directory, uint64_t session, const char *advice,
                   bool removes_stale) {
    std::vector<std::string> names;
    if (Status status = names_in(directory, names); !status) {
        return status;
    }
    for (const std::string &name : names) {
        if (!name.starts_with(beginning) || name.starts_with(prefix_of(session))) {
            continue;
        }
        const std::string path = path_in(directory, name);
        constexpr int flags =
            O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no device is waited for
        const File file(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
        pid_t holder = 0;
        if (file.is_open() && os::system().is_locked(file.descriptor(), holder)) {
            return fail(CD_ERROR_STORE_LOCKED, "%s: %s uses these checkpoints; %s",
                        directory.c_str(), read_user(file, holder).c_str(), advice);
        }
        if (file.is_open() && removes_stale) {
            os::system().unlink_at(AT_FDCWD, path.c_str());
        }
    }
    return Status::ok();
}

} // namespace

DirLock::DirLock(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

DirLock::~DirLock() { os::system().unlink_at(AT_FDCWD, path_.c_str()); }

// Makes its own file before it looks for others, so that of two jobs one sees the other. The last
// user may have removed the empty directory meanwhile.
Status DirLock::take(const std::string &directory, const User &user,
                     std::unique_ptr<DirLock> &lock) {
    Directory made;
    if (Status status = Directory::open(directory, made); !status) {
        return status;
    }
    const std::string path =
        path_in(directory, prefix_of(user.session) + std::to_string(user.rank));
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW;
    File file(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0600), path);
    if (!file.is_open()) {
        return file.refused("create the file");
    }
    pid_t holder = 0;
    const bool is_taken =
        os::system().lock(file.descriptor(), holder) != 0 && (errno == EAGAIN || errno == EACCES);
    if (is_taken || !redset::leads_to(path, file)) {
        return fail(CD_ERROR_STORE_LOCKED, "%s: another job begins or ends in it; try again",
                    directory.c_str());
    }
    const std::string line =
        "process " + std::to_string(os::system().process()) + " on " + user.node + "\n";
    auto taken = std::make_unique<DirLock>(path, std::move(file));
    Status status = taken->file_.write(0, line.data(), line.size());
    status = status ? check_alone(directory, user.session,
                                  "wait until it ends, or give the root another name or directory",
                                  false)
                    : status;
    if (status) {
        lock = std::move(taken);
    }
    return status;
}

Status DirLock::find_first_user(const std::string &directory, uint64_t session, int &rank) {
    std::vector<std::string> names;
    Status status = names_in(directory, names);
    const std::string prefix = prefix_of(session);
    for (const std::string &name : names) {
        const auto user =
            name.starts_with(prefix) ? redset::to_number(name.substr(prefix.size())) : std::nullopt;
        if (user && std::cmp_less(*user, rank)) {
            rank = static_cast<int>(*user);
        }
    }
    return status;
}

Status DirLock::check_unused(const std::string &directory) {
    return check_alone(directory, 0, "wait until it ends, or use a copy of them", false);
}

void DirLock::remove_stale(const std::string &directory, uint64_t session) {
    best_effort([&] { return check_alone(directory, session, "", true); });
}

void close_stores(std::vector<OpenStore> &stores) noexcept {
    for (OpenStore &store : stores) {
        store.lock.reset();
        store.folder.remove_if_empty();
    }
    stores.clear();
}

} // namespace cd::checkpoint
