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

// Whoever failed to make a store may have removed the file between our open and our lock.
Status Directory::create_store(const std::string &name, File &store) const {
    File file;
    for (bool is_new = false; !is_new;) {
        file = File(); // which has a lock
        if (Status status = open_unfinished(name, file); !status) {
            return status;
        }
        if (Status status = check_unfinished(name, file, is_new); !status) {
            try_to_remove(unfinished(name));
            return status;
        }
    }
    try_to_remove(removed(name));
    store = std::move(file);
    return Status::ok();
}

Status Directory::open_unfinished(const std::string &name, File &store) const {
    os::System &system = os::system();
    const std::string unfinished = this->unfinished(name);
    const std::string path = std::string(this->path()) + "/" + unfinished;
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    constexpr mode_t mode = S_IRUSR | S_IWUSR;
    File file(system.open_at(descriptor(), unfinished.c_str(), flags | O_EXCL, mode), path);
    const bool made = file.is_open();
    if (!made && errno == EEXIST) {
        file = File(system.open_at(descriptor(), unfinished.c_str(), flags, mode), path);
    }
    if (!file.is_open()) {
        return file.refused("create the file");
    }
    if (Status status = lock_store(file); !status) {
        if (made && status.code() != CD_ERROR_STORE_LOCKED) {
            try_to_remove(unfinished);
        }
        return status;
    }
    store = std::move(file);
    return Status::ok();
}

// is_new: whether it is empty, and still has its name. What a process has left that was
// interrupted, since it is not locked, goes.
Status Directory::check_unfinished(const std::string &name, const File &file, bool &is_new) const {
    os::System &system = os::system();
    bool leads = false;
    if (Status status = leads_to(look_at(unfinished(name)), file, leads); !status) {
        return status;
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return file.refused("look at the file");
    }
    is_new = leads && S_ISREG(status.mode) && status.size == 0;
    if (leads && !is_new && system.unlink_at(descriptor(), unfinished(name).c_str()) != 0) {
        return file.refused("remove what was left unfinished");
    }
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
