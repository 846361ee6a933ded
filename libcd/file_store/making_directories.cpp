// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/making_directories.h"

#include "os/retry_eintr.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace cd {

// Those of others cannot always be opened, but are older.
Status force_name(const File &directory) {
    const File above(os::system().open_at(directory.descriptor(), "..", O_RDONLY | O_DIRECTORY, 0),
                     std::string(directory.path()) + "/..");
    if (!above.is_open()) {
        return errno == EACCES ? Status::ok()
                               : refuse_path_for_error(directory.path(), "open what holds it");
    }
    os::System &system = os::system();
    const int result = os::repeated([&] { return system.sync_all(above.descriptor()); });
    // EINVAL: a file system that has nothing to force, as that of an automounter.
    return result == 0 || errno == EINVAL ? Status::ok()
                                          : above.refused("force the directory to the disk");
}

std::string without_slashes_and_dots(std::string path) {
    while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) {
        path.pop_back();
    }
    return path;
}

namespace {

// Makes one directory, so that it is still there after a crash; also if it is there already,
// because a process that was killed may have made it.
Status make_directory(const std::string &path, bool forced, const char *key) {
    os::System &system = os::system();
    const bool made = system.make_directory_at(AT_FDCWD, path.c_str(), S_IRWXU) == 0;
    if (!made && errno != EEXIST) {
        return refuse_path_for_error(path.c_str(), "make it", key);
    }
    if (!forced) {
        return Status::ok();
    }
    const File directory(system.open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0), path);
    if (!directory.is_open()) {
        return made ? refuse_path_for_error(path.c_str(), "open it", key) : Status::ok();
    }
    return force_name(directory);
}

} // namespace

Status make_directories(const std::string &path, bool forced, const char *key) {
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        if (Status status = make_directory(path.substr(0, end), forced, key); !status) {
            return status;
        }
    }
    return make_directory(path, forced, key);
}

} // namespace cd
