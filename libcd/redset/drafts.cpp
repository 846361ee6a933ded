// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/drafts.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace cd::redset {
namespace {

std::string folder_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status refused(const std::string &path, const char *what) {
    return File(-1, path).refused(what, 0);
}

int make_directory(const std::string &path) {
    return os::system().make_directory_at(AT_FDCWD, path.c_str(), 0700);
}

// A node that replaces a lost one has none of the directories.
Status make_directories(const std::string &path) {
    if (make_directory(path) == 0 || errno == EEXIST) {
        return Status::ok();
    }
    if (errno != ENOENT) {
        return refused(path, "make the directory");
    }
    if (Status status = make_directories(folder_of(path)); !status) {
        return status;
    }
    return make_directory(path) == 0 || errno == EEXIST ? Status::ok()
                                                        : refused(path, "make the directory");
}

int create_exclusively(const std::string &path) {
    return os::system().open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                                0600);
}

Status sync_directory(const std::string &path) {
    const File directory(os::system().open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY, 0),
                         path);
    return directory.is_open() ? directory.sync_all() : directory.refused("open the directory", 0);
}

} // namespace

Drafts::~Drafts() {
    for (const Draft &draft : drafts_) {
        if (draft.there) {
            os::system().unlink_at(AT_FDCWD, draft.temporary.c_str());
        }
    }
}

Status Drafts::create(const std::string &path, size_t &number, bool keep_open) {
    const std::string folder = folder_of(path);
    Draft draft{path,
                folder + "/.cd-draft." + std::to_string(writer_) + "." +
                    std::to_string(drafts_.size()),
                {},
                false};
    int fd = create_exclusively(draft.temporary);
    if (fd < 0 && errno == ENOENT) {
        if (Status status = make_directories(folder); !status) {
            return status;
        }
        fd = create_exclusively(draft.temporary);
    }
    if (fd < 0 && errno == EEXIST) { // of a process that died
        os::system().unlink_at(AT_FDCWD, draft.temporary.c_str());
        fd = create_exclusively(draft.temporary);
    }
    if (fd < 0) {
        return refused(draft.temporary, "create the file");
    }
    draft.file = File(fd, draft.temporary);
    draft.there = true;
    if (!keep_open) {
        draft.file = File();
    }
    number = drafts_.size();
    drafts_.push_back(std::move(draft));
    return Status::ok();
}

Status Drafts::reopen(size_t number, File &file) const {
    const std::string &path = drafts_[number].temporary;
    const int fd = os::system().open_at(AT_FDCWD, path.c_str(), O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0) {
        return refused(path, "open the file again");
    }
    file = File(fd, path);
    return Status::ok();
}

Status Drafts::finish(size_t number, const std::optional<os::FileAttributes> &attributes) {
    Draft &draft = drafts_[number];
    if (!draft.file.is_open()) {
        if (Status status = reopen(number, draft.file); !status) {
            return status;
        }
    }
    const int fd = draft.file.descriptor();
    if (attributes) {
        constexpr mode_t permissions = 07777;
        os::System &system = os::system();
        // Giving a file away may cost it permissions, and not being allowed to is no failure.
        if (system.set_owner(fd, attributes->owner, attributes->group) != 0 && errno != EPERM) {
            return draft.file.refused("set the owner", 0);
        }
        if (system.set_mode(fd, attributes->mode & permissions) != 0) {
            return draft.file.refused("set the mode", 0);
        }
        if (system.set_times(fd, attributes->accessed, attributes->modified) != 0) {
            return draft.file.refused("set the times", 0);
        }
    }
    Status status = sync_ ? draft.file.sync_all() : Status::ok();
    draft.file = File();
    return status;
}

Status Drafts::publish() {
    std::set<std::string> folders;
    for (Draft &draft : drafts_) {
        if (os::system().rename_at(AT_FDCWD, draft.temporary.c_str(), draft.path.c_str()) != 0) {
            return refused(draft.path, "give the file its name");
        }
        draft.there = false;
        folders.insert(folder_of(draft.path));
    }
    for (const std::string &folder : folders) {
        if (Status status = sync_ ? sync_directory(folder) : Status::ok(); !status) {
            return status;
        }
    }
    return Status::ok();
}

} // namespace cd::redset
