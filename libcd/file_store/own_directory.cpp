// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/own_directory.h"

#include "file_store/directory.h"
#include "file_store/file.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace cd {
namespace {

// Nothing where it is no directory, or a link to one.
std::optional<os::FileStatus> look_at(const std::string &path) {
    constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    os::FileStatus status;
    return directory.is_open() && os::system().status(directory.descriptor(), status) == 0
               ? std::optional(status)
               : std::nullopt;
}

bool has_stores(const std::string &path) {
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0),
                         path);
    std::vector<std::string> names;
    return directory.is_open() && os::system().list(directory.descriptor(), names) == 0 &&
           std::ranges::any_of(names,
                               [](const std::string &name) { return name.ends_with(".cds"); });
}

} // namespace

std::string own_directory(const std::string &named) {
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    const uid_t user = os::system().user();
    const auto there = look_at(without_slashes_and_dots(named));
    if (!there) {
        return named;
    }
    std::string own = named + "/cd-stores-" + std::to_string(user);
    if (const auto before = look_at(own); before && before->owner == user) {
        return own;
    }
    const bool is_shared = (there->mode & shared) == shared;
    const bool was_private = is_shared && there->owner == user && has_stores(named);
    return is_shared && !was_private ? own : named;
}

} // namespace cd
