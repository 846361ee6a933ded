// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/own_directory.h"

#include "file_store/file.h"
#include "file_store/making_directories.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace cd {
namespace {

// Nothing where it cannot be opened so. A link is not followed.
std::optional<os::FileStatus> look_at(int directory, const std::string &path, int flags) {
    const File file(os::system().open_at(directory, path.c_str(), O_PATH | O_NOFOLLOW | flags, 0),
                    path);
    os::FileStatus status;
    return file.is_open() && os::system().status(file.descriptor(), status) == 0
               ? std::optional(status)
               : std::nullopt;
}

std::optional<os::FileStatus> look_at_directory(const std::string &path) {
    return look_at(AT_FDCWD, path, O_DIRECTORY);
}

// Stores, or protected points in time. In a directory of all, names that others have made say
// nothing.
bool has_stores_of(uid_t user, const std::string &path) {
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0),
                         path);
    std::vector<std::string> names;
    return directory.is_open() && os::system().list(directory.descriptor(), names) == 0 &&
           std::ranges::any_of(names, [&](const std::string &name) {
               if (!name.ends_with(".cds") && !name.ends_with(".points")) {
                   return false;
               }
               const auto there = look_at(directory.descriptor(), name, 0);
               return there && there->owner == user;
           });
}

} // namespace

std::string own_directory(const std::string &named) {
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    const uid_t user = os::system().user();
    const auto there = look_at_directory(without_slashes_and_dots(named));
    if (!there) {
        return named;
    }
    std::string own = named + "/cd-stores-" + std::to_string(user);
    if (const auto before = look_at_directory(own); before && before->owner == user) {
        return own;
    }
    const bool is_shared = (there->mode & shared) == shared;
    const bool was_private = is_shared && there->owner == user && has_stores_of(user, named);
    return is_shared && !was_private ? own : named;
}

} // namespace cd
