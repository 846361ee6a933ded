// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/directory.h"

#include "base/no_throw.h"
#include "file_store/permissions.h"
#include "os/retry_eintr.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace cd {

constexpr int most_tries = 100; // to open a file that still has its name then

Status Directory::open(const std::string &named, Directory &directory, const char *key) {
    const std::string path = without_slashes_and_dots(named);
    os::System &system = os::system();
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    File file(system.open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    if (!file.is_open() && errno == ENOENT) {
        if (Status made = make_directories(path, true, key); !made) {
            return made;
        }
        file = File(system.open_at(AT_FDCWD, path.c_str(), flags, 0), path);
    }
    if (!file.is_open()) {
        return errno == ENOTDIR ? refuse_path(path.c_str(), "it is a symbolic link or no directory",
                                              (std::string("give another ") + key).c_str())
                                : refuse_path_for_error(path.c_str(), "open it", key);
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return refuse_path_for_error(path.c_str(), "look at it", key);
    }
    if (Status owned = check_owner(path.c_str(), status, key); !owned) {
        return owned;
    }
    if ((status.mode & others_may_write) != 0) {
        return refuse_path(path.c_str(), "others may write to it",
                           (std::string("chmod go-w, or give another ") + key).c_str());
    }
    file.remember_identity();
    directory.file_ = std::move(file);
    return Status::ok();
}

Status Directory::force() const {
    if (Status status = file_.sync_all(); !status) {
        return status;
    }
    return force_name(file_);
}

// Tries again if another process has removed or renamed the file between open and lock.
Status Directory::open_store(const std::string &name, File &store, bool &there) const {
    const std::string path = std::string(this->path()) + "/" + name;
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
    for (int i = 0; i < most_tries; ++i) {
        File file(os::system().open_at(descriptor(), name.c_str(), flags, 0), path);
        there = file.is_open() || errno != ENOENT;
        if (!file.is_open()) {
            return there ? refuse_path_for_error(path.c_str(), "open the store") : Status::ok();
        }
        bool leads = false;
        Status status = check_store(file);
        status = status ? lock_store(file) : status;
        status = status ? leads_to(look_at(name), file, leads) : status;
        if (!status) {
            return status;
        }
        if (leads) {
            store = std::move(file);
            return status;
        }
    }
    return fail(CD_ERROR_STORE_IO,
                "%s: the file loses its name each time it is opened, after %d tries; give another "
                "dir= in storage_info",
                path.c_str(), most_tries);
}

Status Directory::check_store(const File &store) {
    os::FileStatus status;
    if (os::system().status(store.descriptor(), status) != 0) {
        return store.refused("look at the file");
    }
    if (!S_ISREG(status.mode)) {
        return refuse_path(store.path(), "it is no ordinary file", "remove it");
    }
    if (Status owned = check_owner(store.path(), status); !owned) {
        return owned;
    }
    return (status.mode & others_may_write) == 0
               ? Status::ok()
               : refuse_path(store.path(), "others may write to it",
                             "take that from them with chmod go-w, if you trust what is in it");
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
                "%s: the file was removed or renamed while in use. The call has changed nothing; "
                "give the file its name back, or commit the root and create it again",
                file.path());
}

// Succeeds if the directory above cannot be opened: it is another user's, and older.
Status force_name(const File &directory) {
    const File above(os::system().open_at(directory.descriptor(), "..", O_RDONLY | O_DIRECTORY, 0),
                     std::string(directory.path()) + "/..");
    if (!above.is_open()) {
        return errno == EACCES ? Status::ok()
                               : refuse_path_for_error(directory.path(), "open what holds it");
    }
    os::System &system = os::system();
    const int result = os::repeated([&] { return system.sync_all(above.descriptor()); });
    // EINVAL: the file system has nothing to force, as that of an automounter.
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

// Makes a directory and forces its name, also if a killed process made it.
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

// ---- How a new file gets its name ----

// The process that makes a store has the lock of the file with the unfinished name until the store
// has its own name, or it gives up: no other process makes or removes one meanwhile.

std::string Directory::unfinished(const std::string &name) { return "." + name + ".new"; }

bool Directory::is_for_moments(const std::string &name) {
    return name.starts_with('.') && (name.ends_with(".cds.new") || name.ends_with(".cds.gone"));
}

Status Directory::create_store(const std::string &name, File &store) const {
    const std::string temporary = unfinished(name);
    const std::string path = std::string(this->path()) + "/" + temporary;
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    for (int i = 0; i < most_tries; ++i) {
        File file(os::system().open_at(descriptor(), temporary.c_str(), flags, S_IRUSR | S_IWUSR),
                  path);
        if (!file.is_open()) {
            return file.refused("create the file");
        }
        if (Status status = lock_store(file); !status) {
            if (status.code() == CD_ERROR_STORE_DIRECTORY) { // nobody can lock it
                try_to_remove(temporary);
            }
            return status;
        }
        bool leads = false;
        uint64_t size = 0;
        Status status = leads_to(look_at(temporary), file, leads);
        status = status ? file.size(size) : status;
        if (!status) {
            return status;
        }
        if (leads && size == 0) {
            store = std::move(file);
            return status;
        }
        // A process that was interrupted has left it, perhaps with its final name beside this one.
        if (leads && os::system().unlink_at(descriptor(), temporary.c_str()) != 0) {
            return file.refused("remove what was left unfinished");
        }
    }
    return fail(CD_ERROR_STORE_IO,
                "%s: the file loses its name each time it is made, after %d tries; give another "
                "dir= in storage_info",
                path.c_str(), most_tries);
}

Status Directory::publish(const std::string &name, File &store, bool replaces, bool forced) const {
    os::System &system = os::system();
    const std::string from = unfinished(name); // allocated before the file has its name
    std::string path = std::string(this->path()) + "/" + name;
    if (Status status = forced ? store.sync_all() : Status::ok(); !status) {
        return status;
    }
    if ((replaces ? system.rename_at(descriptor(), from.c_str(), name.c_str())
                  : system.link_at(descriptor(), from.c_str(), name.c_str())) != 0) {
        return errno == EEXIST
                   ? fail(CD_ERROR_STORE_LOCKED,
                          "%s: another process has made this store just now; repeat the call "
                          "after that process has ended",
                          path.c_str())
               : is_not_supported(errno)
                   ? refuse_file_system(this->path(), "give a file a second name")
                   : store.refused("give the file its name");
    }
    if (Status status = forced ? file_.sync_all() : Status::ok(); !status) {
        if (!replaces) {
            try_to_remove(name);
        }
        return status;
    }
    if (!replaces) {
        try_to_remove(from);
    }
    store.set_path(std::move(path));
    return Status::ok();
}

void Directory::give_up_unfinished(const std::string &name) const {
    try_to_remove(unfinished(name));
}

void Directory::remove_unfinished(const std::string &name, const File &store) const {
    for (const std::string &left : {unfinished(name), removed(name)}) {
        const SavedMessage keeper;
        bool is_store = false; // by another name, too; its lock would go with another descriptor
        if (leads_to(look_at(left), store, is_store) && is_store) {
            try_to_remove(left);
        } else {
            (void)remove_left(left).is_ok();
        }
    }
}

Status Directory::remove_hidden(const std::string &name) const {
    return remove_left(removed(name));
}

Status Directory::remove_left(const std::string &name) const {
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
    const File file(os::system().open_at(descriptor(), name.c_str(), flags, 0),
                    std::string(path()) + "/" + name);
    if (!file.is_open()) {
        return Status::ok();
    }
    bool leads = false;
    Status status = lock_store(file);
    status = status ? leads_to(look_at(name), file, leads) : status;
    if (leads) {
        try_to_remove(name);
    }
    return status;
}

// ---- How a file loses its name, or gets another one ----

std::string Directory::removed(const std::string &name) { return "." + name + ".gone"; }

// Renames the file: a name can be given back, a file that was unlinked cannot.
Status Directory::hide(const std::string &name, bool forced) const {
    os::System &system = os::system();
    const std::string gone = removed(name);
    if (Status status = file_.check_identity(); !status) {
        return status;
    }
    // If both names lead to one file, because a removal was undone in part, renaming does nothing.
    bool there = false;
    if (Status status = look_for(name, there); !status) {
        return status;
    }
    if (there && system.unlink_at(descriptor(), gone.c_str()) != 0 && errno != ENOENT) {
        return file_.refused("remove what was left of an earlier removal");
    }
    if (system.rename_at(descriptor(), name.c_str(), gone.c_str()) != 0 && errno != ENOENT) {
        return file_.refused("remove the store");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        const SavedMessage keeper;
        (void)undo_remove(name, forced).is_ok();
    }
    return status;
}

void Directory::finish_remove(const std::string &name) const { try_to_remove(removed(name)); }

Status Directory::undo_remove(const std::string &name, bool forced) const {
    // Renaming would replace a store that another process has made meanwhile.
    os::System &system = os::system();
    if (system.link_at(descriptor(), removed(name).c_str(), name.c_str()) == 0) {
        try_to_remove(removed(name));
    } else if (errno != ENOENT) {
        return file_.refused("give the store its name back");
    }
    return forced ? file_.sync_all() : Status::ok();
}

void Directory::try_to_remove(const std::string &name, bool forced) const noexcept {
    const bool gone = os::system().unlink_at(descriptor(), name.c_str()) == 0;
    if (gone && forced) {
        os::system().sync_all(descriptor());
    }
}

Status Directory::keep_by(const std::string &name, const std::string &second, bool forced) const {
    try_to_remove(second);
    if (os::system().link_at(descriptor(), name.c_str(), second.c_str()) != 0) {
        return is_not_supported(errno)
                   ? refuse_file_system(this->path(), "give a file a second name")
                   : file_.refused("keep the old store aside");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        try_to_remove(second);
    }
    return status;
}

// Renaming does nothing if the store has both names, and replaces what else has its own.
void Directory::give_back(const std::string &name, const std::string &second,
                          bool forced) const noexcept {
    if (os::system().rename_at(descriptor(), second.c_str(), name.c_str()) == 0) {
        os::system().unlink_at(descriptor(), second.c_str());
    }
    if (forced) {
        os::system().sync_all(descriptor());
    }
}

} // namespace cd
