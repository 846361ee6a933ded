// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/atomic_files.h"

#include "file_store/directory.h"
#include "os/system.h"
#include "redset/member_files.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace cd::redset {

namespace {

constexpr char beginning[] = ".cd-draft.";

// Locks belong to a process, which does not see its own.
struct OwnMarks {
    std::mutex mutex;
    std::set<std::string> names;
};

OwnMarks &own_marks() {
    static auto *const marks = new OwnMarks; // threads may still protect while the process ends
    return *marks;
}

bool is_own(const std::string &name) {
    const std::scoped_lock lock(own_marks().mutex);
    return own_marks().names.contains(name);
}

bool is_locked(const File &file) {
    pid_t holder = 0;
    return os::system().lock(file.descriptor(), holder) != 0;
}

// Removes a mark and its drafts, unless the maker has locked it or is about to.
void remove_if_dead(const File &folder, const std::string &mark,
                    const std::vector<std::string> &names) {
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY; // no device is waited for
    const int fd = os::system().open_at(folder.descriptor(), mark.c_str(), flags, 0);
    const File file(fd, mark);
    if ((!file.is_open() && errno != ENOENT) || (file.is_open() && is_locked(file))) {
        return;
    }
    for (const std::string &name : names) {
        if (name.starts_with(mark + ".")) {
            os::system().unlink_at(folder.descriptor(), name.c_str());
        }
    }
    os::system().unlink_at(folder.descriptor(), mark.c_str());
}

// Removes the drafts of dead writers whose names begin with `prefix`. Ignores failures.
void remove_what_the_dead_left(const File &folder, const std::string &prefix) {
    std::vector<std::string> names;
    if (os::system().list(folder.descriptor(), names) != 0) {
        return;
    }
    std::set<std::string> marks;
    for (const std::string &name : names) {
        if (name.starts_with(prefix) && writer_of_draft(name)) {
            marks.insert(name.substr(0, name.find('.', prefix.size())));
        }
    }
    for (const std::string &mark : marks) {
        if (!is_own(mark)) {
            remove_if_dead(folder, mark, names);
        }
    }
}

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

// A locked file in a folder, which shows that the drafts whose names begin with its own are in use.
// It is created before them and removed after them, so that jobs and threads that share a folder
// and a writer keep their drafts apart. The next one of that writer removes the drafts of the dead.
class Drafts::Mark {
public:
    Mark(const std::string &folder, std::string name)
        : name_(std::move(name)), path_(folder + "/" + name_) {
        const std::scoped_lock lock(own_marks().mutex);
        own_marks().names.insert(name_);
    }
    Mark(const Mark &) = delete;
    Mark &operator=(const Mark &) = delete;
    ~Mark() {
        if (file_.is_open()) {
            os::system().unlink_at(AT_FDCWD, path_.c_str());
        }
        const std::scoped_lock lock(own_marks().mutex);
        own_marks().names.erase(name_);
    }

    // `taken`: false if another process took it for one of a dead writer before it was locked. If
    // files cannot be locked, nothing is ever removed.
    Status create(bool &taken) {
        file_ = create_exclusively(path_);
        if (!file_.is_open()) {
            return file_.refused("create the file");
        }
        const bool others_have_it = is_locked(file_) && (errno == EAGAIN || errno == EACCES);
        taken = !others_have_it && leads_to(path_, file_);
        return Status::ok();
    }

    const std::string &path() const { return path_; }

private:
    std::string name_;
    std::string path_;
    File file_;
};

Drafts::Drafts(int writer, bool sync) : writer_(writer), sync_(sync) {}

void remove_drafts_of_the_dead(const std::string &folder) {
    const File open = open_directory(folder, O_NOFOLLOW);
    if (open.is_open()) {
        remove_what_the_dead_left(open, beginning);
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

Status Drafts::mark_in(const std::string &folder, std::string &path) {
    std::unique_ptr<Mark> &known = marks_[folder];
    if (known != nullptr) {
        path = known->path();
        return Status::ok();
    }
    File directory = open_directory(folder);
    if (!directory.is_open() && errno == ENOENT) {
        // A node that replaces a lost one has no directories yet.
        if (Status status = make_directories(folder, sync_); !status) {
            return status;
        }
        directory = open_directory(folder);
    }
    if (!directory.is_open()) {
        return directory.refused("open the directory");
    }
    const std::string prefix = beginning + std::to_string(writer_) + "-";
    remove_what_the_dead_left(directory, prefix);
    constexpr int tries = 100; // each is lost only if another process looks at that moment
    for (int i = 0; i < tries; ++i) {
        uint64_t number = 0;
        if (os::system().random(&number, sizeof number) != 0) {
            return directory.refused("get random numbers");
        }
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016" PRIx64, number);
        auto mark = std::make_unique<Mark>(folder, prefix + digits);
        bool taken = false;
        if (Status status = mark->create(taken); !status) {
            return status;
        }
        if (taken) {
            path = mark->path();
            known = std::move(mark);
            return Status::ok();
        }
    }
    return directory.refused("keep a file in the directory");
}

Status Drafts::create(const std::string &path, size_t &number, bool keep_open) {
    // publish() would fail when other files are new already.
    if (open_directory(path, O_NOFOLLOW | O_PATH).is_open()) {
        return fail(CD_ERROR_STORE_IO,
                    "%s: a directory has the name of a file. Move it away and repeat the call; no "
                    "file has changed",
                    path.c_str());
    }
    std::string mark;
    if (Status status = mark_in(folder_of(path), mark); !status) {
        return status;
    }
    Draft draft{path, mark + "." + std::to_string(drafts_.size()), {}, false};
    draft.file = create_exclusively(draft.temporary);
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
