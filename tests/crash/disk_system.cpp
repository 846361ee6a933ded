// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "disk_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace crash {
namespace {

int refuse(int error) {
    errno = error;
    return -1;
}

} // namespace

// Calls that take no room cannot fail for lack of it.
bool DiskSystem::fails_to_look(bool can_be_interrupted) {
    const bool due = fails(can_be_interrupted);
    if (due && (errno == ENOSPC || errno == EDQUOT)) {
        errno = EIO;
    }
    return due;
}

bool DiskSystem::fails(bool can_be_interrupted) {
    const size_t call = calls_++;
    const bool due =
        (fault_.kind == Fault::Kind::fails && call >= fault_.at &&
         call < fault_.at + fault_.times) ||
        (fault_.kind == Fault::Kind::interrupted && call == fault_.at && can_be_interrupted) ||
        (fault_.kind == Fault::Kind::fails_from_then_on && call >= fault_.at);
    if (due) {
        errno = fault_.error;
    }
    return due;
}

void DiskSystem::record(Event event) {
    happen(event, disk_);
    tape_.push_back(std::move(event));
}

void DiskSystem::change(Change change) {
    Event event;
    event.kind = Event::Kind::change;
    event.change = std::move(change);
    record(std::move(event));
}

// The directory that holds the path's last name; -1: it is not there.
int DiskSystem::walk(int directory, const std::string &path, std::string &last) const {
    const bool absolute = !path.empty() && path.front() == '/';
    int at = absolute || directory == AT_FDCWD ? Disk::root : open_.at(directory);
    size_t begin = absolute ? 1 : 0;
    for (size_t end = path.find('/', begin); end != std::string::npos && at >= 0;
         begin = end + 1, end = path.find('/', begin)) {
        at = disk_.find(at, path.substr(begin, end - begin));
    }
    last = path.substr(begin);
    return at;
}

int DiskSystem::find(int directory, const char *path) const {
    std::string name;
    const int holder = walk(directory, path, name);
    if (name == "..") {
        return disk_.parent(holder);
    }
    return holder < 0 || name.empty() ? holder : disk_.find(holder, name);
}

off_t DiskSystem::seek(int fd, off_t offset, int whence) {
    off_t &position = positions_[fd];
    position = whence == SEEK_SET ? offset : position;
    return position;
}

int DiskSystem::identify(int fd, cd::os::FileIdentity &identity) {
    identity = {2, inode_of(fd - descriptor_of(0)), 0};
    return 0;
}

int DiskSystem::open_at(int directory, const char *name, int flags, mode_t) {
    if ((flags & O_CREAT) != 0 ? fails() : fails_to_look()) {
        return -1;
    }
    int inode = find(directory, name);
    if (inode < 0) {
        std::string last;
        const int holder = walk(directory, name, last);
        if (holder < 0 || (flags & O_CREAT) == 0) {
            return refuse(ENOENT);
        }
        inode = disk_.next_inode();
        Event event;
        event.kind = Event::Kind::inode;
        event.inode = holder;
        record(event);
        change({.kind = Change::Kind::link, .inode = holder, .name = last, .target = inode});
    } else if ((flags & O_EXCL) != 0) {
        return refuse(EEXIST);
    }
    if ((flags & O_DIRECTORY) != 0 && !disk_.is_directory(inode)) {
        return refuse(ENOTDIR);
    }
    open_[next_descriptor_] = inode;
    return next_descriptor_++;
}

// The descriptor is gone also when the call fails.
int DiskSystem::close(int fd) {
    open_.erase(fd);
    return fails() ? -1 : 0;
}

int DiskSystem::status(int fd, cd::os::FileStatus &status) {
    if (fails_to_look()) {
        return -1;
    }
    const int inode = open_.at(fd);
    status.size = disk_.content(inode).size();
    status.owner = user();
    status.mode = disk_.is_directory(inode) ? S_IFDIR | S_IRWXU : S_IFREG | S_IRUSR | S_IWUSR;
    status.identity = {1, static_cast<ino_t>(inode)};
    status.names = disk_.names(inode);
    return 0;
}

int DiskSystem::make_directory_at(int directory, const char *name, mode_t) {
    if (fails()) {
        return -1;
    }
    std::string last;
    const int holder = walk(directory, name, last);
    if (holder < 0) {
        return refuse(ENOENT);
    }
    if (disk_.find(holder, last) >= 0) {
        return refuse(EEXIST);
    }
    const int made = disk_.next_inode();
    Event event;
    event.kind = Event::Kind::inode;
    event.inode = holder;
    event.directory = true;
    record(event);
    change({.kind = Change::Kind::link, .inode = holder, .name = last, .target = made});
    return 0;
}

int DiskSystem::link_at(int directory, const char *from, const char *to) {
    if (fails()) {
        return -1;
    }
    const int holder = open_.at(directory);
    const int target = disk_.find(holder, from);
    if (target < 0) {
        return refuse(ENOENT);
    }
    if (disk_.find(holder, to) >= 0) {
        return refuse(EEXIST);
    }
    change({.kind = Change::Kind::link, .inode = holder, .name = to, .target = target});
    return 0;
}

int DiskSystem::rename_at(int directory, const char *from, const char *to) {
    if (fails()) {
        return -1;
    }
    const int holder = open_.at(directory);
    const int target = disk_.find(holder, from);
    if (target < 0) {
        return refuse(ENOENT);
    }
    if (disk_.find(holder, to) == target) {
        return 0; // as POSIX has it
    }
    change(
        {.kind = Change::Kind::rename, .inode = holder, .name = from, .to = to, .target = target});
    return 0;
}

int DiskSystem::unlink_at(int directory, const char *name) {
    if (fails_to_look()) {
        return -1;
    }
    const int holder = open_.at(directory);
    if (disk_.find(holder, name) < 0) {
        return refuse(ENOENT);
    }
    change({.kind = Change::Kind::unlink, .inode = holder, .name = name});
    return 0;
}

ssize_t DiskSystem::read_at(int fd, void *to, size_t length, off_t offset) {
    if (fails_to_look(true)) {
        return -1;
    }
    if (fault_.kind == Fault::Kind::transfers_less && fault_.at == calls_ - 1 && length > 1) {
        length /= 2;
    }
    const Content &content = disk_.content(open_.at(fd));
    return static_cast<ssize_t>(
        content.read(static_cast<uint64_t>(offset), static_cast<std::byte *>(to), length));
}

int DiskSystem::open_direct(int fd, uint64_t &pays_from) {
    if (!direct_) {
        return refuse(EOPNOTSUPP);
    }
    if (fails_to_look()) {
        return -1;
    }
    pays_from = 0;
    open_[next_descriptor_] = open_.at(fd);
    open_direct_.insert(next_descriptor_);
    return next_descriptor_++;
}

ssize_t DiskSystem::write_at(int fd, const void *from, size_t length, off_t offset) {
    if (fails(true)) {
        return -1;
    }
    const uint64_t borders =
        reinterpret_cast<uintptr_t>(from) | length | static_cast<uint64_t>(offset);
    if (open_direct_.contains(fd) && borders % sector != 0) {
        return refuse(EINVAL);
    }
    if (fault_.kind == Fault::Kind::transfers_less && fault_.at == calls_ - 1 && length > 1) {
        length /= 2;
    }
    const int inode = open_.at(fd);
    const auto begin = static_cast<uint64_t>(offset);
    if (disk_.content(inode).size() < begin + length) {
        change({.kind = Change::Kind::grow, .inode = inode, .size = begin + length});
    }
    const auto *first = static_cast<const std::byte *>(from);
    change({.kind = Change::Kind::write,
            .inode = inode,
            .offset = begin,
            .bytes = std::make_shared<std::vector<std::byte>>(first, first + length)});
    return static_cast<ssize_t>(length);
}

// Grows a file by the room that is left, as ext4 does, and fails then.
int DiskSystem::allocate(int fd, off_t offset, off_t length) {
    const int inode = open_.at(fd);
    const uint64_t before = disk_.content(inode).size();
    const auto grow = [&](off_t by) {
        if (const auto size = static_cast<uint64_t>(offset + by); before < size) {
            change({.kind = Change::Kind::grow, .inode = inode, .size = size});
        }
    };
    const bool full = length > longest_growth_;
    const bool failing = fails(true);
    const int error = failing ? errno : ENOSPC;
    if (failing ? error == ENOSPC || error == EDQUOT : full) {
        grow(length / 2 / static_cast<off_t>(sector) * static_cast<off_t>(sector));
        too_long_.emplace(inode, before);
    } else if (!failing) {
        grow(length);
        too_long_.erase(inode);
        return 0;
    }
    return refuse(error);
}

// Always possible: nobody is told if it is not.
int DiskSystem::truncate(int fd, off_t size) {
    const int inode = open_.at(fd);
    const auto to = static_cast<uint64_t>(size);
    if (disk_.content(inode).size() > to) {
        change({.kind = Change::Kind::cut, .inode = inode, .size = to});
    }
    if (const auto at = too_long_.find(inode); at != too_long_.end() && at->second >= to) {
        too_long_.erase(at);
    }
    return 0;
}

int DiskSystem::force(int fd) {
    Event event;
    event.inode = open_.at(fd);
    const bool failing = fails(true);
    const int error = errno;
    // Data whose sync was interrupted are not lost.
    event.kind = failing ? Event::Kind::fail_to_force : Event::Kind::force;
    if (!failing || error != EINTR) {
        record(event);
    }
    errno = error;
    return failing ? -1 : 0;
}

int DiskSystem::sync_data(int fd) { return force(fd); }

int DiskSystem::sync_all(int fd) { return force(fd); }

int DiskSystem::lock_open_file(int, pid_t &) { return fails_to_look() ? -1 : 0; }

// Another file has another id.
int DiskSystem::random(void *to, size_t length) {
    if (fails_to_look()) {
        return -1;
    }
    static uint64_t next = 0;
    ++next;
    std::memset(to, 0, length);
    std::memcpy(to, &next, std::min(length, sizeof next));
    return 0;
}

const char *DiskSystem::environment(const char *name) {
    return std::strcmp(name, "CD_RESTART") == 0 ? restart_ : nullptr;
}

} // namespace crash
