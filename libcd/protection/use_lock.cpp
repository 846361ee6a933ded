// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/use_lock.h"

#include "os/system.h"
#include "redset/open_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace cd::protection {
namespace {

// Who has it, in a line: processes of other nodes are not known by their numbers alone.
using Line = std::array<char, 200>;

Status write_user(const File &file, const std::string &node) {
    Line line = {};
    std::snprintf(line.data(), line.size(), "process %ld on %.100s\n",
                  static_cast<long>(os::system().process()), node.c_str());
    return file.write(0, line.data(), line.size());
}

// Nothing more than what is there, where it cannot be read.
std::string read_user(const File &file, pid_t holder) {
    Line line = {};
    const ssize_t length = os::system().read_at(file.descriptor(), line.data(), line.size() - 1, 0);
    const auto end = std::find(line.begin(), line.end(), '\n');
    return length > 0 && end != line.end() ? std::string(line.begin(), end)
                                           : "process " + std::to_string(holder);
}

} // namespace

UseLock::UseLock(std::string path, File file, bool made)
    : path_(std::move(path)), file_(std::move(file)), made_(made) {}

UseLock::~UseLock() {
    if (made_) {
        os::system().unlink_at(AT_FDCWD, path_.c_str());
    }
}

Status UseLock::take(const std::string &directory, const std::string &node,
                     std::unique_ptr<UseLock> &lock) {
    const std::string path = directory + "/in-use";
    constexpr int tries = 100; // each is lost only if another job ends at that moment
    for (int i = 0; i < tries; ++i) {
        constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW;
        int fd = os::system().open_at(AT_FDCWD, path.c_str(), flags | O_EXCL, 0600);
        const bool made = fd >= 0;
        if (!made && errno == EEXIST) {
            fd = os::system().open_at(AT_FDCWD, path.c_str(), flags, 0600);
        }
        File file(fd, path);
        if (!file.is_open()) {
            return file.refused("create the file", 0);
        }
        pid_t holder = 0;
        const bool locked = os::system().lock(file.descriptor(), holder) == 0;
        if (!locked && (errno == EAGAIN || errno == EACCES)) {
            return fail(CD_ERROR_STORE_LOCKED,
                        "%s: %s uses these points in time; wait until it ends, or give the root "
                        "another name or directory",
                        directory.c_str(), read_user(file, holder).c_str());
        }
        if (redset::leads_to(path, file)) {
            Status status = write_user(file, node);
            auto taken = std::make_unique<UseLock>(path, std::move(file), made);
            lock = status ? std::move(taken) : nullptr;
            return status;
        }
    }
    return fail(CD_ERROR_STORE_LOCKED, "%s: other jobs come and go; try again", directory.c_str());
}

} // namespace cd::protection
