// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/open_file.h"

#include "redset/kvtree_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace cd::redset {
namespace {

// What is no regular file does not keep us waiting.
constexpr int reading = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Only who owns a file may read it without a trace.
int open_without_trace(const char *path, int flags) {
    const int fd = os::system().open_at(AT_FDCWD, path, flags | O_NOATIME, 0);
    return fd < 0 && errno == EPERM ? os::system().open_at(AT_FDCWD, path, flags, 0) : fd;
}

Status open_regular(const std::string &path, int flags, File &file,
                    os::FileAttributes &attributes) {
    const int fd = open_without_trace(path.c_str(), flags);
    if (fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0) {
        return fail(CD_ERROR_STORE_IO, "%s: is a symbolic link, and these are not followed",
                    path.c_str());
    }
    if (fd < 0) {
        return fail(CD_ERROR_STORE_IO, "%s: cannot be opened: \"%s\"", path.c_str(),
                    std::strerror(errno));
    }
    File opened(fd, path);
    os::FileAttributes found;
    if (os::system().attributes(fd, found) != 0) {
        return opened.refused("look at the file");
    }
    if (!S_ISREG(found.mode)) {
        return fail(CD_ERROR_STORE_IO, "%s: is not a regular file", path.c_str());
    }
    file = std::move(opened);
    attributes = found;
    return Status::ok();
}

} // namespace

Status open_to_read(const std::string &path, File &file, os::FileAttributes &attributes) {
    return open_regular(path, reading, file, attributes);
}

Status open_own_to_read(const std::string &path, File &file, os::FileAttributes &attributes) {
    return open_regular(path, reading | O_NOFOLLOW, file, attributes);
}

Status read_own_image(const std::string &path, KvTree &tree, uint64_t &size) {
    File file;
    os::FileAttributes attributes;
    Status status = open_own_to_read(path, file, attributes);
    return status ? read_image(file, tree, size) : status;
}

Status open_stored(const Place &place, const std::string &name, File &file,
                   os::FileAttributes &attributes) {
    return place.links == Links::followed ? open_to_read(place.path(name), file, attributes)
                                          : open_own_to_read(place.path(name), file, attributes);
}

bool leads_to(const std::string &path, const File &file) {
    os::FileIdentity by_name;
    os::FileIdentity own;
    const File named(os::system().open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW, 0), path);
    return named.is_open() && os::system().identify(named.descriptor(), by_name) == 0 &&
           os::system().identify(file.descriptor(), own) == 0 && by_name == own;
}

} // namespace cd::redset
