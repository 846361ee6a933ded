// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/directory.h"

#include "file_store/making_directories.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace cd {

Status Directory::open(const std::string &named, Directory &directory, const char *key) {
    const std::string path = without_slashes_and_dots(named);
    os::System &system = os::system();
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    File file;
    os::FileStatus status;
    const auto open_and_look = [&] {
        file = File(system.open_at(AT_FDCWD, path.c_str(), flags, 0), path);
        return file.is_open() && system.status(file.descriptor(), status) == 0;
    };
    bool is_known = open_and_look();
    // What its owner may not use another process is just making, under a umask that takes that.
    const bool is_unfinished = is_known ? (status.mode & S_IRWXU) != S_IRWXU
                                        : !file.is_open() && (errno == ENOENT || errno == EACCES);
    if (is_unfinished) {
        if (Status made = make_directories(path, true, key); !made) {
            return made;
        }
        is_known = open_and_look();
    }
    if (!file.is_open()) {
        return errno == ENOTDIR ? refuse_path(path.c_str(), "it is a symbolic link or no directory",
                                              (std::string("give another ") + key).c_str())
                                : refuse_path_for_error(path.c_str(), "open it", key);
    }
    if (!is_known) {
        return refuse_path_for_error(path.c_str(), "look at it", key);
    }
    if (Status owned = check_owner(path.c_str(), status, key); !owned) {
        return owned;
    }
    if ((status.mode & others_may_write) != 0) {
        return refuse_path(path.c_str(), "others may write to it",
                           (std::string("chmod go-w, or give another ") + key).c_str());
    }
    directory.file_ = std::move(file);
    directory.file_.remember_identity();
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
    bool leads = false;
    for (int i = 0; i < most_tries && !leads; ++i) {
        file = File(); // whose lock goes with it
        if (Status status = open_and_lock(name, file, there); !status || !there) {
            return status;
        }
        if (Status status = leads_to(look_at(name), file, leads); !status) {
            return status;
        }
    }
    if (!leads) {
        return fail(CD_ERROR_STORE_IO,
                    "%s: the name does not lead to the file that was opened by it, after %d tries; "
                    "give another dir= in storage_info",
                    file.path(), most_tries);
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
        return refuse_path_for_error(path.c_str(), "open the store");
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return file.refused("look at the file");
    }
    if (!S_ISREG(status.mode)) {
        return refuse_path(path.c_str(), "it is no ordinary file", "remove it");
    }
    if (Status owned = check_owner(path.c_str(), status); !owned) {
        return owned;
    }
    if ((status.mode & others_may_write) != 0) {
        return refuse_path(path.c_str(), "others may write to it",
                           "take that from them with chmod go-w, if you trust what is in it");
    }
    if (Status locked = lock_store(file); !locked) {
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

Status Directory::look_for(const std::string &name, bool &there) const {
    const File named = look_at(name);
    there = named.is_open();
    return there || errno == ENOENT
               ? Status::ok()
               : refuse_path_for_error((std::string(path()) + "/" + name).c_str(), "look for it");
}

Status Directory::has_name(const std::string &name, const File &file, bool &has) const {
    return leads_to(look_at(name), file, has);
}

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

} // namespace cd
