// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/directory.h"

#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cd {
namespace {

constexpr mode_t others_may_write = S_IWGRP | S_IWOTH;

Status refuse(const char *path, const char *reason, const char *remedy) {
    return fail(CD_ERROR_STORE_DIRECTORY, "%s: %s; %s", path, reason, remedy);
}

Status refuse_for_error(const char *path, const char *operation) {
    const int error = errno;
    if (error == ELOOP) {
        return refuse(path, "it is a symbolic link, and these are not followed",
                      "name what it leads to");
    }
    return fail(CD_ERROR_STORE_DIRECTORY,
                "%s: cannot %s: \"%s\"; give another dir= in storage_info", path, operation,
                std::strerror(error));
}

Status check_owner(const char *path, const os::FileStatus &status) {
    if (status.owner == os::system().user()) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORE_DIRECTORY,
                "%s: it belongs to user %ld, not to you (%ld); give a dir= of your own in "
                "storage_info",
                path, static_cast<long>(status.owner), static_cast<long>(os::system().user()));
}

Status lock(const File &file) {
    pid_t holder = 0;
    if (os::system().lock_open_file(file.descriptor(), holder) == 0) {
        return Status::ok();
    }
    if (errno != EAGAIN && errno != EACCES) {
        return file.refused("lock the file");
    }
    const std::string who = holder > 0 ? "process " + std::to_string(holder) : "another process";
    return fail(CD_ERROR_STORE_LOCKED,
                "%s: %s has this store open; wait until it ends, or use another name or dir=",
                file.path(), who.c_str());
}

std::string unfinished(const std::string &name) { return "." + name + ".new"; }
std::string removed(const std::string &name) { return "." + name + ".gone"; }

} // namespace

// Those of others cannot always be opened, but are older.
Status force_name(const File &directory) {
    const File above(os::system().open_at(directory.descriptor(), "..", O_RDONLY | O_DIRECTORY, 0),
                     std::string(directory.path()) + "/..");
    if (!above.is_open()) {
        return errno == EACCES ? Status::ok()
                               : refuse_for_error(directory.path(), "open what holds it");
    }
    os::System &system = os::system();
    int result = 0;
    do {
        result = system.sync_all(above.descriptor());
    } while (result != 0 && errno == EINTR);
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
Status make_directory(const std::string &path, bool forced) {
    os::System &system = os::system();
    const bool made = system.make_directory_at(AT_FDCWD, path.c_str(), S_IRWXU) == 0;
    if (!made && errno != EEXIST) {
        return refuse_for_error(path.c_str(), "make it");
    }
    if (!forced) {
        return Status::ok();
    }
    const File directory(system.open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0), path);
    if (!directory.is_open()) {
        return made ? refuse_for_error(path.c_str(), "open it") : Status::ok();
    }
    return force_name(directory);
}

} // namespace

Status make_directories(const std::string &path, bool forced) {
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        if (Status status = make_directory(path.substr(0, end), forced); !status) {
            return status;
        }
    }
    return make_directory(path, forced);
}

Status Directory::open(const std::string &named, Directory &directory) {
    const std::string path = without_slashes_and_dots(named);
    os::System &system = os::system();
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    File file(system.open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    if (!file.is_open() && errno == ENOENT) {
        if (Status status = make_directories(path, true); !status) {
            return status;
        }
        file = File(system.open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    }
    if (!file.is_open()) {
        return errno == ENOTDIR ? refuse(path.c_str(), "it is a symbolic link or no directory",
                                         "give a directory as dir= in storage_info")
                                : refuse_for_error(path.c_str(), "open it");
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return refuse_for_error(path.c_str(), "look at it");
    }
    if (Status owned = check_owner(path.c_str(), status); !owned) {
        return owned;
    }
    if ((status.mode & others_may_write) != 0) {
        return refuse(path.c_str(), "others may write to it", "chmod go-w, or give another dir=");
    }
    directory.file_ = std::move(file);
    return Status::ok();
}

Status Directory::force() const {
    if (Status status = file_.sync_all(); !status) {
        return status;
    }
    return force_name(file_);
}

// Whoever had it open before may have removed or renamed it between our open and our lock.
Status Directory::open_store(const std::string &name, File &store, bool &there) const {
    File file;
    for (bool leads = false; !leads;) {
        if (Status status = open_and_lock(name, file, there); !status || !there) {
            return status;
        }
        if (Status status = leads_to(look_at(name), file, leads); !status) {
            return status;
        }
    }
    store = std::move(file);
    return Status::ok();
}

Status Directory::open_and_lock(const std::string &name, File &store, bool &there) const {
    os::System &system = os::system();
    const std::string path = std::string(this->path()) + "/" + name;
    File file(system.open_at(descriptor(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0),
              path);
    there = file.is_open() || errno != ENOENT;
    if (!there) {
        return Status::ok();
    }
    if (!file.is_open()) {
        return refuse_for_error(path.c_str(), "open the store");
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return file.refused("look at the file");
    }
    if (!S_ISREG(status.mode)) {
        return refuse(path.c_str(), "it is no ordinary file", "remove it");
    }
    if (Status owned = check_owner(path.c_str(), status); !owned) {
        return owned;
    }
    if ((status.mode & others_may_write) != 0) {
        return refuse(path.c_str(), "others may write to it",
                      "take that from them with chmod go-w, if you trust what is in it");
    }
    if (Status locked = lock(file); !locked) {
        return locked;
    }
    store = std::move(file);
    return Status::ok();
}

File Directory::look_at(const std::string &name) const {
    return {os::system().open_at(descriptor(), name.c_str(), O_PATH | O_NOFOLLOW, 0), name};
}

Status Directory::leads_to(const File &named, const File &file, bool &leads) {
    leads = named.is_open();
    if (!leads) {
        return errno == ENOENT ? Status::ok() : file.refused("look for its name");
    }
    os::System &system = os::system();
    os::FileStatus found;
    os::FileStatus expected;
    if (system.status(named.descriptor(), found) != 0 ||
        system.status(file.descriptor(), expected) != 0) {
        return file.refused("look whether it has its name");
    }
    leads = found.identity == expected.identity;
    return Status::ok();
}

Status Directory::create_store(const std::string &name, File &store) const {
    os::System &system = os::system();
    const std::string path = std::string(this->path()) + "/" + unfinished(name);
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    File file(system.open_at(descriptor(), unfinished(name).c_str(), flags, S_IRUSR | S_IWUSR),
              path);
    if (!file.is_open()) {
        return file.refused("create the file");
    }
    if (Status status = lock(file); !status) {
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
        if (Status locked = lock(file); !locked) {
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

Status Directory::remove(const std::string &name, bool forced, bool &nameless) const {
    Status status = hide(name, forced, nameless);
    if (status) {
        finish_remove(name);
    }
    return status;
}

// A name can be given back, a file that was unlinked cannot.
Status Directory::hide(const std::string &name, bool forced, bool &nameless) const {
    nameless = false;
    os::System &system = os::system();
    const std::string gone = removed(name);
    // Where both names lead to the same file, because a removal was undone in part, renaming would
    // do nothing.
    if (has(name) && system.unlink_at(descriptor(), gone.c_str()) != 0 && errno != ENOENT) {
        return file_.refused("remove what was left of an earlier removal");
    }
    if (system.rename_at(descriptor(), name.c_str(), gone.c_str()) != 0 && errno != ENOENT) {
        return file_.refused("remove the store");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        const MessageKeeper keeper;
        nameless = true; // also if there is no memory to undo it
        nameless = !undo_remove(name, forced).is_ok();
    }
    return status;
}

void Directory::finish_remove(const std::string &name) const { try_to_remove(removed(name)); }

Status Directory::undo_remove(const std::string &name, bool forced) const {
    // Not by renaming, which would take the place of a store that somebody else has made meanwhile.
    os::System &system = os::system();
    if (system.link_at(descriptor(), removed(name).c_str(), name.c_str()) == 0) {
        try_to_remove(removed(name));
    } else if (errno != ENOENT) {
        return file_.refused("give the store its name back");
    }
    return forced ? file_.sync_all() : Status::ok();
}

void Directory::try_to_remove(const std::string &name, bool forced) const noexcept {
    const bool removed = os::system().unlink_at(descriptor(), name.c_str()) == 0;
    if (removed && forced) {
        os::system().sync_all(descriptor());
    }
}

bool Directory::has(const std::string &name) const { return look_at(name).is_open(); }

Status Directory::check_name(const std::string &name, const File &file) const {
    const File named = look_at(name);
    if (!named.is_open() && (errno == EMFILE || errno == ENFILE || errno == EACCES)) {
        return Status::ok();
    }
    bool leads = false;
    if (Status status = leads_to(named, file, leads); !status || leads) {
        return status;
    }
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: the file was removed or renamed while it was in use, and a restart would not "
                "find what is written to it. The call has changed nothing; give the file its name "
                "back, or commit the root and create it again",
                file.path());
}

Status Directory::rename(const std::string &from, const std::string &to, bool forced) const {
    if (os::system().rename_at(descriptor(), from.c_str(), to.c_str()) != 0) {
        return file_.refused("keep the old store aside");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        undo_rename(from, to, forced);
    }
    return status;
}

void Directory::undo_rename(const std::string &from, const std::string &to,
                            bool forced) const noexcept {
    os::system().rename_at(descriptor(), to.c_str(), from.c_str());
    if (forced) {
        os::system().sync_all(descriptor());
    }
}

} // namespace cd
