// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/atomic_files.h"

#include "file_store/directory.h"
#include "os/system.h"
#include "redset/kvtree_file.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

namespace cd::redset {

namespace {

constexpr char beginning[] = ".cd-draft.";

std::string folder_of(const std::string &path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

File create_exclusively(const std::string &path) {
    constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    return {os::system().open_at(AT_FDCWD, path.c_str(), flags, 0600), path};
}

File open_directory(const std::string &path, int more_flags = 0) {
    return {os::system().open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | more_flags, 0),
            path};
}

// Forces the entries of a directory, and its own name, to the disk.
Status sync_directory(const std::string &path) {
    const File directory = open_directory(path);
    if (!directory.is_open()) {
        return directory.refused("open the directory");
    }
    Status status = directory.sync_all();
    return status.is_ok() ? force_name(directory) : status;
}

} // namespace

void remove_drafts(const std::string &folder) {
    const File directory = open_directory(folder, O_NOFOLLOW);
    std::vector<std::string> names;
    if (!directory.is_open() || os::system().list(directory.descriptor(), names) != 0) {
        return;
    }
    for (const std::string &name : names) {
        if (writer_of_draft(name)) {
            os::system().unlink_at(directory.descriptor(), name.c_str());
        }
    }
}

std::optional<int> writer_of_draft(std::string_view name) {
    if (!name.starts_with(beginning)) {
        return std::nullopt;
    }
    name.remove_prefix(sizeof beginning - 1);
    int writer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), writer);
    const bool is_one =
        error == std::errc() && writer >= 0 && end != name.data() + name.size() && *end == '-';
    return is_one ? std::optional(writer) : std::nullopt;
}

Drafts::~Drafts() {
    for (const Draft &draft : drafts_) {
        if (draft.there) {
            os::system().unlink_at(AT_FDCWD, draft.temporary.c_str());
        }
    }
}

Status Drafts::create(const std::string &path, size_t &number, bool keep_open) {
    // publish() would fail when other files are new already.
    if (open_directory(path, O_NOFOLLOW | O_PATH).is_open()) {
        return fail(CD_ERROR_STORE_IO,
                    "%s: a directory has the name of a file. Move it away and repeat the call; no "
                    "file has changed",
                    path.c_str());
    }
    if (prefix_.empty()) {
        uint64_t random = 0;
        if (os::system().random(&random, sizeof random) != 0) {
            return File(-1, path).refused("get random numbers");
        }
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016" PRIx64, random);
        prefix_ = beginning + std::to_string(writer_) + "-" + digits + ".";
    }
    const std::string folder = folder_of(path);
    Draft draft{path, folder + "/" + prefix_ + std::to_string(drafts_.size()), {}, false};
    draft.file = create_exclusively(draft.temporary);
    if (!draft.file.is_open() && errno == ENOENT) {
        // A node that replaces a lost one has no directories yet.
        if (Status status = make_directories(folder, sync_); !status) {
            return status;
        }
        draft.file = create_exclusively(draft.temporary);
    }
    if (!draft.file.is_open()) {
        return draft.file.refused("create the file");
    }
    draft.there = true;
    if (!keep_open) {
        draft.file = File();
    }
    number = drafts_.size();
    drafts_.push_back(std::move(draft));
    return Status::ok();
}

Status Drafts::create(const std::string &path, const KvTree &tree, size_t &number) {
    std::vector<std::byte> image;
    if (Status status = encode_image(tree, path.c_str(), image); !status) {
        return status;
    }
    Status status = create(path, number);
    return status ? file(number).write(0, image.data(), image.size()) : status;
}

Status Drafts::reopen(size_t number, File &file) const {
    const std::string &path = drafts_[number].temporary;
    file = File(os::system().open_at(AT_FDCWD, path.c_str(), O_RDWR | O_NOFOLLOW, 0), path);
    return file.is_open() ? Status::ok() : file.refused("open the file again");
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
        // A change of the owner may clear mode bits, and may be forbidden.
        if (system.set_owner(fd, attributes->owner, attributes->group) != 0 && errno != EPERM) {
            return draft.file.refused("set the owner");
        }
        if (system.set_mode(fd, attributes->mode & permissions) != 0) {
            return draft.file.refused("set the mode");
        }
        if (system.set_times(fd, attributes->accessed, attributes->modified) != 0) {
            return draft.file.refused("set the times");
        }
    }
    Status status = sync_ ? draft.file.sync_all() : Status::ok();
    draft.file = File();
    return status;
}

void Drafts::give_up(size_t number) {
    Draft &draft = drafts_[number];
    draft.file = File();
    draft.there = false;
    os::system().unlink_at(AT_FDCWD, draft.temporary.c_str());
}

Status Drafts::publish() {
    std::set<std::string> folders;
    for (Draft &draft : drafts_) {
        if (!draft.there) {
            continue;
        }
        if (os::system().rename_at(AT_FDCWD, draft.temporary.c_str(), draft.path.c_str()) != 0) {
            const auto given = static_cast<size_t>(&draft - drafts_.data());
            return fail(CD_ERROR_STORE_IO,
                        "%s: cannot give the file its name: \"%s\"; of %zu file%s %zu %s new "
                        "already, and the others are as they were. Repeat the call",
                        draft.path.c_str(), std::strerror(errno), drafts_.size(),
                        drafts_.size() == 1 ? "" : "s", given, given == 1 ? "is" : "are");
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
