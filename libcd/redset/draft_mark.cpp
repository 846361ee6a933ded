// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/draft_mark.h"

#include "os/system.h"
#include "redset/open_file.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace cd::redset {
namespace {

constexpr char beginning[] = ".cd-draft.";

// Locks are those of a process, which does not see its own.
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

std::string hexadecimal(uint64_t number) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) {
        text += digits[number >> shift & 0xf];
    }
    return text;
}

bool is_locked(const File &file) {
    pid_t holder = 0;
    return os::system().lock(file.descriptor(), holder) != 0;
}

// Locks it; false if another process has done so, which looks whether its maker lives.
bool lock_before_others(const File &file) {
    return !is_locked(file) || (errno != EAGAIN && errno != EACCES);
}

// What its maker has locked, or is about to lock, stays.
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

// That something stays does no harm.
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

} // namespace

DraftMark::DraftMark(std::string name, std::string path, File file)
    : name_(std::move(name)), path_(std::move(path)), file_(std::move(file)) {}

Status DraftMark::make(const File &folder, int writer, std::unique_ptr<DraftMark> &mark) {
    const std::string prefix = beginning + std::to_string(writer) + "-";
    remove_what_the_dead_left(folder, prefix);
    constexpr int tries = 100; // each is lost only if another process looks at that moment
    for (int i = 0; i < tries; ++i) {
        uint64_t number = 0;
        if (os::system().random(&number, sizeof number) != 0) {
            return folder.refused("get random numbers");
        }
        const std::string name = prefix + hexadecimal(number);
        {
            const std::scoped_lock lock(own_marks().mutex);
            own_marks().names.insert(name);
        }
        const std::string path = std::string(folder.path()) + "/" + name;
        const int fd = os::system().open_at(AT_FDCWD, path.c_str(),
                                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        std::unique_ptr<DraftMark> made(new DraftMark(name, path, File(fd, path)));
        if (fd < 0) {
            return made->file_.refused("create the file");
        }
        // Where files cannot be locked nobody can tell that somebody died, and nothing is removed.
        // Until it is locked, another process may take the file for that of somebody who died.
        if (lock_before_others(made->file_) && leads_to(path, made->file_)) {
            mark = std::move(made);
            return Status::ok();
        }
    }
    return folder.refused("keep a file in the directory");
}

void remove_drafts_of_the_dead(const std::string &folder) {
    const File open(
        os::system().open_at(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0),
        folder);
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

DraftMark::~DraftMark() {
    if (file_.is_open()) {
        os::system().unlink_at(AT_FDCWD, path_.c_str());
    }
    const std::scoped_lock lock(own_marks().mutex);
    own_marks().names.erase(name_);
}

} // namespace cd::redset
