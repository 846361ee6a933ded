// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/permissions.h"

#include "file_store/directory.h"
#include "file_store/file.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cd {

Status refuse_path(const char *path, const char *reason, const char *remedy) {
    return fail(CD_ERROR_STORE_DIRECTORY, "%s: %s; %s", path, reason, remedy);
}

Status refuse_path_for_error(const char *path, const char *operation, const char *key) {
    const int error = errno;
    if (error == ELOOP) {
        return refuse_path(path, "it is a symbolic link, and these are not followed",
                           "name what it leads to");
    }
    if (error == ENOSPC || error == EDQUOT) {
        return fail(CD_ERROR_STORE_FULL,
                    "%s: no room on the disk (\"%s\") to %s; give another %s, or free some and "
                    "repeat the call, which has changed nothing",
                    path, std::strerror(error), operation, key);
    }
    const bool passes = error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
    return fail(CD_ERROR_STORE_DIRECTORY, "%s: cannot %s: \"%s\"; %s%s", path, operation,
                std::strerror(error),
                passes ? "the call has changed nothing and can be repeated" : "give another ",
                passes ? "" : key);
}

Status check_owner(const char *path, const os::FileStatus &status, const char *key) {
    if (status.owner == os::system().user()) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORE_DIRECTORY,
                "%s: it belongs to user %ld, not to you (%ld); give another %s", path,
                static_cast<long>(status.owner), static_cast<long>(os::system().user()), key);
}

bool is_not_supported(int error) {
    return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EPERM;
}

Status refuse_file_system(const char *path, const char *operation) {
    return fail(CD_ERROR_STORE_DIRECTORY,
                "%s: the file system does not %s (\"%s\"); give another dir= in storage_info, on "
                "another one",
                path, operation, std::strerror(errno));
}

Status lock_store(const File &file) {
    pid_t holder = 0;
    if (os::system().lock_open_file(file.descriptor(), holder) == 0) {
        return Status::ok();
    }
    if (errno != EAGAIN && errno != EACCES) {
        return is_not_supported(errno) ? refuse_file_system(file.path(), "lock files")
                                       : file.refused("lock the file");
    }
    const std::string who = holder > 0 ? "process " + std::to_string(holder) : "another process";
    return fail(CD_ERROR_STORE_LOCKED,
                "%s: %s has this store open; wait until it ends, or use another name or dir=",
                file.path(), who.c_str());
}

Status own_directory(const std::string &named, std::string &own) {
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    const std::string path = without_slashes_and_dots(named);
    own = named;
    const File directory(
        os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY, 0), path);
    // Opening it later refuses links and forbidden files.
    if (!directory.is_open() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
                                 errno == EACCES || errno == ENAMETOOLONG)) {
        return Status::ok();
    }
    os::FileStatus status;
    if (!directory.is_open() || os::system().status(directory.descriptor(), status) != 0) {
        return refuse_path_for_error(path.c_str(), "look at it");
    }
    if ((status.mode & shared) == shared) {
        own += "/cd-stores-" + std::to_string(os::system().user());
    }
    return Status::ok();
}

} // namespace cd
