// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// How a file loses its name in a directory, or gets another one.
#include "file_store/access.h"
#include "file_store/directory.h"
#include "os/system.h"

#include <cerrno>

namespace cd {

std::string Directory::removed(const std::string &name) { return "." + name + ".gone"; }

// A name can be given back, a file that was unlinked cannot.
Status Directory::hide(const std::string &name, bool forced, bool &nameless) const {
    nameless = false;
    os::System &system = os::system();
    const std::string gone = removed(name);
    // Where both names lead to the same file, because a removal was undone in part, renaming would
    // do nothing.
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
    const bool gone = os::system().unlink_at(descriptor(), name.c_str()) == 0;
    if (gone && forced) {
        os::system().sync_all(descriptor());
    }
}

Status Directory::keep_by(const std::string &name, const std::string &second, bool forced) const {
    os::System &system = os::system();
    try_to_remove(second);
    if (system.link_at(descriptor(), name.c_str(), second.c_str()) != 0) {
        const std::string path = std::string(this->path()) + "/" + second;
        return is_not_supported(errno)
                   ? refuse_file_system(this->path(), "give a file a second name")
               : errno == EEXIST
                   ? refuse_path(path.c_str(),
                                 "the old store is to be kept aside by this name, and what has it "
                                 "cannot be removed",
                                 "remove or rename it")
                   : file_.refused("keep the old store aside");
    }
    Status status = forced ? file_.sync_all() : Status::ok();
    if (!status) {
        try_to_remove(second);
    }
    return status;
}

// Where it has both names renaming does nothing, and else takes the place of what has its own.
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
