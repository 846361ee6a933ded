// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/own_directory.h"

#include "file_store/access.h"
#include "file_store/file.h"
#include "file_store/making_directories.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

namespace cd {
namespace {

// A link is not followed. What this user may not look at is refused by whoever opens it.
bool tells_that_there_is_none(int error) {
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES ||
           error == ENAMETOOLONG;
}

Status cannot_look_at(const std::string &path) {
    return refuse_path_for_error(path.c_str(), "look at it");
}

// Nothing where there is nothing of the kind that flags ask for.
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

// Stores, or protected points in time. In a directory of all, names that others have made say
// nothing.
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
