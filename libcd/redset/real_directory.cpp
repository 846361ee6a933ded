// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/real_directory.h"

#include "file_store/file.h"
#include "os/system.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path &path) {
    const int fd = os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0);
    return File(fd, path).is_open();
}

Status cannot_tell(const fs::path &directory, const char *why) {
    return fail(CD_ERROR_STORE_IO, "%s: cannot tell where this leads: \"%s\"", directory.c_str(),
                why);
}

} // namespace

Status real_directory(const fs::path &directory, fs::path &real) {
    fs::path above = directory;
    fs::path made;
    std::string there;
    while (os::system().real_path(above.empty() ? "." : above.c_str(), there) != 0) {
        const int error = errno;
        if (error != ENOENT || !above.has_relative_path() || above.filename() == ".." ||
            is_there(above)) {
            return cannot_tell(directory, std::strerror(error));
        }
        made = made.empty() ? above.filename() : above.filename() / made;
        above = above.parent_path();
    }
    real = (fs::path(there) / made).lexically_normal();
    real = real.has_filename() ? real : real.parent_path(); // without a slash at the end
    return Status::ok();
}

} // namespace cd::redset
