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
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace cd::checkpoint {
namespace {

constexpr char beginning[] = "in-use-";

// Describes a user: process and node.
using Line = std::array<char, 200>;

Status write_user(const File &file, const std::string &node) {
    Line line = {};
    std::snprintf(line.data(), line.size(), "process %ld on %.100s\n",
                  static_cast<long>(os::system().process()), node.c_str());
    return file.write(0, line.data(), line.size());
}

// Gives only the process where the line cannot be read.
std::string read_user(const File &file, pid_t holder) {
    Line line = {};
    const ssize_t length = os::system().read_at(file.descriptor(), line.data(), line.size() - 1, 0);
    const auto end = std::find(line.begin(), line.end(), '\n');
    return length > 0 && end != line.end() ? std::string(line.begin(), end)
                                           : "process " + std::to_string(holder);
}

bool lock_is_taken(const File &file) {
    pid_t holder = 0;
    return os::system().lock(file.descriptor(), holder) != 0 &&
           (errno == EAGAIN || errno == EACCES);
}

std::string prefix_of(uint64_t session) {
    char prefix[sizeof beginning + 17];
    std::snprintf(prefix, sizeof prefix, "%s%016" PRIx64 "-", beginning, session);
    return prefix;
}

std::string path_of(const std::string &directory, uint64_t session, int rank) {
    return directory + "/" + prefix_of(session) + std::to_string(rank);
}

// Calls visit(path, file) for the lock files of other sessions. It must not lock them, since ranks
// of one job look at the same moment. Closing a lock file of this process would end its lock.
template <typename Visit>
Status each_other(const std::string &directory, std::optional<uint64_t> session,
                  const Visit &visit) {
    std::vector<std::string> names;
    if (Status status = names_in(directory, names); !status) {
        return status;
    }
    for (const std::string &name : names) {
        if (!DirLock::is_name(name) || (session && name.starts_with(prefix_of(*session)))) {
            continue;
        }
        const std::string path = path_in(directory, name);
        constexpr int flags =
            O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no device is waited for
        const File file(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
        if (Status status = file.is_open() ? visit(path, file) : Status::ok(); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status check_alone(const std::string &directory, std::optional<uint64_t> session,
                   const char *advice) {
    return each_other(directory, session, [&](const std::string &, const File &file) {
        pid_t holder = 0;
        return !os::system().is_locked(file.descriptor(), holder)
                   ? Status::ok()
                   : fail(CD_ERROR_STORE_LOCKED, "%s: %s uses these checkpoints; %s",
                          directory.c_str(), read_user(file, holder).c_str(), advice);
    });
}

} // namespace

DirLock::DirLock(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

DirLock::~DirLock() { os::system().unlink_at(AT_FDCWD, path_.c_str()); }

// Makes its own file before it looks for others, so that of two jobs one sees the other. The last
// user may have removed the empty directory meanwhile.
Status DirLock::take(const std::string &directory, const User &user,
                     std::unique_ptr<DirLock> &lock) {
    const std::string path = path_of(directory, user.session, user.rank);
    std::unique_ptr<DirLock> taken;
    constexpr int tries = 100; // each is lost only if another job looks at that moment
    for (int i = 0; i < tries && taken == nullptr; ++i) {
        File file(os::system().open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600),
                  path);
        if (!file.is_open() && errno == ENOENT) {
            Directory made;
            if (Status status = Directory::open(directory, made); !status) {
                return status;
            }
            continue;
        }
        if (!file.is_open()) {
            return file.refused("create the file");
        }
        if (!lock_is_taken(file) && redset::leads_to(path, file)) {
            taken = std::make_unique<DirLock>(path, std::move(file));
        }
    }
    if (taken == nullptr) {
        return fail(CD_ERROR_STORE_LOCKED, "%s: other jobs come and go; try again",
                    directory.c_str());
    }
    if (Status status = write_user(taken->file_, user.node); !status) {
        return status;
    }
    Status alone = check_alone(directory, user.session,
                               "wait until it ends, or give the root another name or directory");
    if (alone) {
        lock = std::move(taken);
    }
    return alone;
}

Status DirLock::find_users(const std::string &directory, uint64_t session,
                           std::vector<int> &ranks) {
    std::vector<std::string> names;
    if (Status status = names_in(directory, names); !status) {
        return status;
    }
    const std::string prefix = prefix_of(session);
    ranks.clear();
    for (const std::string &name : names) {
        const auto rank =
            name.starts_with(prefix) ? redset::to_number(name.substr(prefix.size())) : std::nullopt;
        if (rank && *rank <= std::numeric_limits<int>::max()) {
            ranks.push_back(static_cast<int>(*rank));
        }
    }
    return Status::ok();
}

Status DirLock::check_unused(const std::string &directory, std::optional<uint64_t> session) {
    return check_alone(directory, session, "wait until it ends, or use a copy of them");
}

bool DirLock::is_name(std::string_view name) { return name.starts_with(beginning); }

void DirLock::remove_stale(const std::string &directory, uint64_t session) {
    best_effort([&] {
        return each_other(directory, session, [](const std::string &path, const File &file) {
            pid_t holder = 0;
            if (!os::system().is_locked(file.descriptor(), holder)) {
                os::system().unlink_at(AT_FDCWD, path.c_str());
            }
            return Status::ok();
        });
    });
}

void close_stores(std::vector<OpenStore> &stores) noexcept {
    for (OpenStore &store : stores) {
        store.lock.reset();
        store.folder.remove_if_empty();
    }
    stores.clear();
}

} // namespace cd::checkpoint
