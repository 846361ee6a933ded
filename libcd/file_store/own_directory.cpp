// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/own_directory.h"

#include "file_store/directory.h"
#include "file_store/file.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace cd {

std::string own_directory(const std::string &named) {
    constexpr mode_t shared = S_ISVTX | S_IWOTH;
    const std::string path = without_slashes_and_dots(named);
    constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    os::FileStatus status;
    const bool is_shared = directory.is_open() &&
                           os::system().status(directory.descriptor(), status) == 0 &&
                           (status.mode & shared) == shared;
    return is_shared ? named + "/cd-stores-" + std::to_string(os::system().user()) : named;
}

} // namespace cd
