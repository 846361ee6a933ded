// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How a new file gets its name in a directory.
#include "file_store/access.h"
#include "file_store/directory.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace cd {

std::string Directory::unfinished(const std::string &name) { return "." + name + ".new"; }

Status Directory::create_store(const std::string &name, File &store) const {
    os::System &system = os::system();
    const std::string path = std::string(this->path()) + "/" + unfinished(name);
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    File file(system.open_at(descriptor(), unfinished(name).c_str(), flags, S_IRUSR | S_IWUSR),
              path);
    if (!file.is_open()) {
        return file.refused("create the file");
    }
    if (Status status = lock_store(file); !status) {
        return status;
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return file.refused("look at the file");
    }
    if (!S_ISREG(status.mode) || status.size != 0) {
        // Left by a process that was interrupted, since it is not locked.
        if (system.unlink_at(descriptor(), unfinished(name).c_str()) != 0) {
            return file.refused("remove what was left unfinished");
        }
        file = File();
        file = File(system.open_at(descriptor(), unfinished(name).c_str(), flags | O_EXCL,
                                   S_IRUSR | S_IWUSR),
                    path);
        if (!file.is_open()) {
            return file.refused("create the file");
        }
        if (Status locked = lock_store(file); !locked) {
            return locked;
        }
    }
    try_to_remove(removed(name));
    store = std::move(file);
    return Status::ok();
}

Status Directory::publish(const std::string &name, File &store, bool forced) const {
    os::System &system = os::system();
    const std::string from = unfinished(name); // once the file has its name nothing may be missing
    std::string path = std::string(this->path()) + "/" + name;
    if (forced) {
        if (Status status = store.sync_all(); !status) {
            return status;
        }
    }
    if (system.link_at(descriptor(), from.c_str(), name.c_str()) != 0) {
        return store.refused("give the file its name");
    }
    system.unlink_at(descriptor(), from.c_str());
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        const MessageKeeper keeper;
        try_to_remove(name);
        return status;
    }
    store.set_path(std::move(path));
    return status;
}

void Directory::remove_unfinished(const std::string &name) const {
    try_to_remove(unfinished(name));
    try_to_remove(removed(name));
}

} // namespace cd
