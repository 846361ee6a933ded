// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How a new file gets its name in a directory. Whoever makes a store has the lock of the file that
// the unfinished name leads to, from before the store has its own name until after that, or until
// it gives up: nobody else makes one of that name, or removes the unfinished one, meanwhile.
#include "file_store/access.h"
#include "file_store/directory.h"
#include "os/system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace cd {

std::string Directory::unfinished(const std::string &name) { return "." + name + ".new"; }

bool Directory::is_for_moments(const std::string &name) {
    return name.starts_with('.') && (name.ends_with(".cds.new") || name.ends_with(".cds.gone"));
}

Status Directory::create_store(const std::string &name, File &store) const {
    File file;
    int discarded = 0;
    bool is_new = false;
    for (int i = 0; i < most_tries && !is_new; ++i) {
        file = File(); // whose lock goes with it
        if (Status status = open_unfinished(name, file); !status) {
            return status;
        }
        if (Status status = check_unfinished(name, file, discarded, is_new); !status) {
            return status;
        }
    }
    if (!is_new) {
        return fail(CD_ERROR_STORE_IO,
                    "%s: the name does not lead to the file that was made by it, or the file is "
                    "not this user's alone, after %d tries; give another dir= in storage_info",
                    file.path(), most_tries);
    }
    store = std::move(file);
    return Status::ok();
}

Status Directory::open_unfinished(const std::string &name, File &store) const {
    const std::string path = std::string(this->path()) + "/" + unfinished(name);
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    File file(
        os::system().open_at(descriptor(), unfinished(name).c_str(), flags, S_IRUSR | S_IWUSR),
        path);
    if (!file.is_open()) {
        return file.refused("create the file");
    }
    Status status = lock_store(file);
    if (status) {
        store = std::move(file);
    } else if (status.code() == CD_ERROR_STORE_DIRECTORY) { // nobody else can lock it either
        const SavedMessage keeper;
        give_up_unfinished(name);
    }
    return status;
}

// is_new: whether it is empty and safe, and has its name still and no other, now that it is locked.
// What is not was left by a process that was interrupted, or put there; it loses its name. What
// comes in its place nobody else has made: if that is not private either, the file system gives all
// files one owner and mode.
Status Directory::check_unfinished(const std::string &name, const File &file, int &discarded,
                                   bool &is_new) const {
    os::System &system = os::system();
    bool leads = false;
    if (Status status = leads_to(look_at(unfinished(name)), file, leads); !status) {
        return status;
    }
    os::FileStatus status;
    if (system.status(file.descriptor(), status) != 0) {
        return file.refused("look at the file");
    }
    constexpr mode_t of_a_store = S_IFREG | S_IRUSR | S_IWUSR;
    const bool is_private = status.owner == system.user() && (status.mode & ~of_a_store) == 0;
    is_new = leads && S_ISREG(status.mode) && status.size == 0 && status.names == 1 &&
             (status.mode & others_may_write) == 0 && (is_private || discarded >= most_discarded);
    if (leads && !is_new) {
        ++discarded;
        if (system.unlink_at(descriptor(), unfinished(name).c_str()) != 0) {
            return file.refused("remove what was left unfinished");
        }
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
        return is_not_supported(errno)
                   ? refuse_file_system(this->path(), "give a file a second name")
                   : store.refused("give the file its name");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        const SavedMessage keeper;
        try_to_remove(name);
        return status;
    }
    try_to_remove(from);
    store.set_path(std::move(path));
    return status;
}

void Directory::give_up_unfinished(const std::string &name) const {
    try_to_remove(unfinished(name));
}

Status Directory::replace(const std::string &name, const File &store, bool forced) const {
    if (Status status = forced ? store.sync_all() : Status::ok(); !status) {
        return status;
    }
    if (os::system().rename_at(descriptor(), unfinished(name).c_str(), name.c_str()) != 0) {
        return store.refused("give the file its name");
    }
    return forced ? file_.sync_all() : Status::ok();
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

// What cannot be opened is nobody's store.
Status Directory::remove_left(const std::string &name) const {
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK;
    const File file(os::system().open_at(descriptor(), name.c_str(), flags, 0),
                    std::string(path()) + "/" + name);
    bool leads = !file.is_open() && (errno == ELOOP || errno == EACCES || errno == ENXIO);
    if (file.is_open()) {
        Status status = lock_store(file);
        status = status ? leads_to(look_at(name), file, leads) : status;
        if (!status) {
            return status;
        }
    }
    if (leads) {
        try_to_remove(name);
    }
    return Status::ok();
}

} // namespace cd
