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
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

namespace {

// True for errors that mean there is none. Opening it later refuses links and forbidden files.
bool tells_that_there_is_none(int error) {
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES ||
           error == ENAMETOOLONG;
}

Status cannot_look_at(const std::string &path) {
    return refuse_path_for_error(path.c_str(), "look at it");
}

// there: gets the status of a file of the kind that `flags` ask for, or nothing.
Status look_at(int directory, const std::string &name, const std::string &path, int flags,
               std::optional<os::FileStatus> &there) {
    const File file(os::system().open_at(directory, name.c_str(), O_PATH | O_NOFOLLOW | flags, 0),
                    path);
    there.reset();
    if (!file.is_open()) {
        return tells_that_there_is_none(errno) ? Status::ok() : cannot_look_at(path);
    }
    return os::system().status(file.descriptor(), there.emplace()) == 0 ? Status::ok()
                                                                        : cannot_look_at(path);
}

Status look_at_directory(const std::string &path, std::optional<os::FileStatus> &there) {
    return look_at(AT_FDCWD, path, path, O_DIRECTORY, there);
}

// has_some: true if the user has stores or checkpoints in the directory; files of others do not
// count.
Status look_for_stores_of(uid_t user, const std::string &path, bool &has_some) {
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0),
                         path);
    std::vector<std::string> names;
    if (!directory.is_open() && tells_that_there_is_none(errno)) {
        return Status::ok();
    }
    if (!directory.is_open() || os::system().list(directory.descriptor(), names) != 0) {
        return cannot_look_at(path);
    }
    Status status;
    for (auto name = names.begin(); name != names.end() && status && !has_some; ++name) {
        if (name->ends_with(".cds") || name->ends_with(end_of_points)) {
            std::optional<os::FileStatus> there;
            status = look_at(directory.descriptor(), *name, path + "/" + *name, 0, there);
            has_some = there && there->owner == user;
        }
    }
    return status;
}

} // namespace

Status own_directory(const std::string &named, std::string &own) {
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    const uid_t user = os::system().user();
    own = named;
    std::optional<os::FileStatus> there;
    Status status = look_at_directory(without_slashes_and_dots(named), there);
    if (!status || !there) {
        return status;
    }
    std::string of_user = named + "/cd-stores-" + std::to_string(user);
    std::optional<os::FileStatus> before;
    if (status = look_at_directory(of_user, before); !status) {
        return status;
    }
    if (before && before->owner == user) {
        own = std::move(of_user);
        return status;
    }
    bool is_private = (there->mode & shared) != shared;
    if (!is_private && there->owner == user) {
        status = look_for_stores_of(user, named, is_private);
    }
    if (status && !is_private) {
        own = std::move(of_user);
    }
    return status;
}

} // namespace cd
