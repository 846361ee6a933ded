// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/system.h"

#include "os/printable.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace cd::os {
namespace {

// The limit for file sizes when it was last read: when a file was opened or grew, or before a write
// fails. A write beyond the limit would end the process by a signal (SIGXFSZ).
std::atomic<uint64_t> size_limit = 0;

// The bytes of a file that carry locks; their contents do not matter.
constexpr off_t owned_byte = 0;
constexpr off_t holder_byte = 1;

struct flock write_lock(off_t byte) {
    struct flock request = {};
    request.l_type = F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = byte;
    request.l_len = 1;
    return request;
}

int set_lock(int fd, int command, off_t byte) {
    struct flock request = write_lock(byte);
    return ::fcntl(fd, command, &request);
}

// Returns the process that has the lock; 0: none, or unknown.
pid_t holder_of(int fd, off_t byte) {
    struct flock request = write_lock(byte);
    const bool held = ::fcntl(fd, F_GETLK, &request) == 0 && request.l_type != F_UNLCK;
    return held ? std::max(request.l_pid, pid_t{0}) : 0;
}

// Returns a path that opens the file again, whatever its name is now.
std::string own_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Measured (docs/inside/performance.md).
constexpr uint64_t direct_pays_from = uint64_t{8} << 20;

System real_system;
System *current_system = &real_system;

// Moves a descriptor above the first three numbers, which are the program's input and output even
// while these are closed. fd may be -1. Fails as fcntl does.
int above_standard(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    ::close(fd);
    errno = error;
    return moved;
}

std::byte *align_up(std::byte *at, size_t alignment) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return at + (alignment - address % alignment) % alignment;
}

// Maps size bytes that start on a huge page, so that the kernel can back them with huge ones.
void *map_on_huge_page(size_t size) {
    const size_t mapped = size + huge_page;
    void *raw = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) {
        return nullptr;
    }
    auto *first = static_cast<std::byte *>(raw);
    auto *start = align_up(first, huge_page);
    const auto before = static_cast<size_t>(start - first);
    if (before > 0) {
        ::munmap(first, before);
    }
    // munmap() takes whole pages, which have 64 KiB on some Arm machines.
    auto *behind = align_up(start + size, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
    if (behind < first + mapped) {
        ::munmap(behind, static_cast<size_t>(first + mapped - behind));
    }
    ::madvise(start, size, MADV_HUGEPAGE);
    return start;
}

// Lets the kernel provide all pages in one go, which is faster than a fault for each. A kernel
// without the request provides them later.
bool make_present(void *at, size_t size) {
#ifdef MADV_POPULATE_WRITE
    return ::madvise(at, size, MADV_POPULATE_WRITE) == 0 || errno == EINVAL || errno == ENOSYS;
#else
    (void)at;
    (void)size;
    return true;
#endif
}

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

} // namespace

off_t System::seek(int fd, off_t offset, int whence) { return ::lseek(fd, offset, whence); }

int System::identify(int fd, FileIdentity &identity) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) {
        return -1;
    }
    // A file may get the inode of one that was removed, but not the time of its birth.
    struct statx more = {};
    const bool known = ::statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
                       (more.stx_mask & STATX_BTIME) != 0;
    constexpr int64_t second = 1'000'000'000;
    const int64_t born = more.stx_btime.tv_sec * second + more.stx_btime.tv_nsec;
    identity = {status.st_dev, status.st_ino, known ? born : 0};
    return 0;
}

int System::open_at(int directory, const char *name, int flags, mode_t mode) {
    if ((flags & O_ACCMODE) != O_RDONLY) {
        file_size_limit();
    }
    const int opened = ::openat(directory, name, flags | O_CLOEXEC, mode);
    const int fd = above_standard(opened);
    if (fd < 0 && opened >= 0 && (flags & O_EXCL) != 0) { // the file is new: remove it
        const int error = errno;
        (void)::unlinkat(directory, name, 0);
        errno = error;
    }
    return fd;
}

int System::close(int fd) { return ::close(fd); }

int System::status(int fd, FileStatus &status) {
    struct stat found = {};
    if (::fstat(fd, &found) != 0) {
        return -1;
    }
    status = {static_cast<uint64_t>(found.st_size),
              found.st_uid,
              found.st_mode,
              {found.st_dev, found.st_ino},
              found.st_nlink};
    return 0;
}

int System::attributes(int fd, FileAttributes &attributes) {
    struct stat found = {};
    if (::fstat(fd, &found) != 0) {
        return -1;
    }
    attributes = {static_cast<uint64_t>(found.st_size),
                  found.st_mode,
                  found.st_uid,
                  found.st_gid,
                  found.st_atim,
                  found.st_mtim,
                  found.st_ctim};
    return 0;
}

int System::set_owner(int fd, uid_t owner, gid_t group) { return ::fchown(fd, owner, group); }

int System::set_mode(int fd, mode_t mode) { return ::fchmod(fd, mode); }

int System::set_times(int fd, timespec accessed, timespec modified) {
    const timespec times[] = {accessed, modified};
    return ::futimens(fd, times);
}

int System::make_directory_at(int directory, const char *name, mode_t mode) {
    return ::mkdirat(directory, name, mode);
}

int System::link_at(int directory, const char *from, const char *to) {
    return ::linkat(directory, from, directory, to, 0);
}

int System::rename_at(int directory, const char *from, const char *to) {
    return ::renameat(directory, from, directory, to);
}

int System::unlink_at(int directory, const char *name) { return ::unlinkat(directory, name, 0); }

int System::remove_directory_at(int directory, const char *name) {
    return ::unlinkat(directory, name, AT_REMOVEDIR);
}

ssize_t System::read_at(int fd, void *to, size_t length, off_t offset) {
    return ::pread(fd, to, length, offset);
}

ssize_t System::write_at(int fd, const void *from, size_t length, off_t offset) {
    const uint64_t end = static_cast<uint64_t>(offset) + length;
    if (end > size_limit && end > file_size_limit()) {
        errno = EFBIG;
        return -1;
    }
    return ::pwrite(fd, from, length, offset);
}

uint64_t System::file_size_limit() {
    rlimit limit = {};
    const bool is_limited =
        ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    size_limit = is_limited ? limit.rlim_cur : UINT64_MAX;
    return size_limit;
}

int System::open_direct(int fd, uint64_t &pays_from) {
    struct statfs where = {};
    if (::fstatfs(fd, &where) != 0) {
        return -1;
    }
    if (where.f_type != EXT4_SUPER_MAGIC && where.f_type != XFS_SUPER_MAGIC) {
        errno = EOPNOTSUPP;
        return -1;
    }
    pays_from = direct_pays_from;
    return above_standard(::open(own_path(fd).c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
}

// On a file system that cannot reserve room the file grows, and a write may still find no room.
int System::allocate(int fd, off_t offset, off_t length) {
    if (static_cast<uint64_t>(offset + length) > file_size_limit()) {
        errno = EFBIG;
        return -1;
    }
    if (::fallocate(fd, 0, offset, length) == 0) {
        return 0;
    }
    const bool is_supported = errno != EOPNOTSUPP && errno != ENOSYS;
    return is_supported ? -1 : ::ftruncate(fd, offset + length);
}

int System::truncate(int fd, off_t size) { return ::ftruncate(fd, size); }

int System::list(int directory, std::vector<std::string> &names) {
    const int own = above_standard(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *stream = own < 0 ? nullptr : ::fdopendir(own);
    if (stream == nullptr) {
        const int error = errno;
        if (own >= 0) {
            ::close(own);
        }
        errno = error;
        return -1;
    }
    errno = 0;
    while (const dirent *entry = ::readdir(stream)) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
            names.emplace_back(entry->d_name);
        }
        errno = 0;
    }
    const int error = errno;
    ::closedir(stream);
    errno = error;
    return error == 0 ? 0 : -1;
}

int System::begin_sync(int fd, off_t offset, off_t length) {
    return ::sync_file_range(fd, offset, length, SYNC_FILE_RANGE_WRITE);
}

int System::sync_data(int fd) { return ::fdatasync(fd); }

int System::sync_all(int fd) { return ::fsync(fd); }

// A record lock: a forked process does not have it, and it ends with its process.
int System::lock(int fd, pid_t &holder) {
    const int result = set_lock(fd, F_SETLK, owned_byte);
    if (result != 0) {
        const int error = errno;
        holder = holder_of(fd, owned_byte);
        errno = error;
    }
    return result;
}

bool System::is_locked(int fd, pid_t &holder) {
    struct flock request = write_lock(owned_byte);
    const bool locked = ::fcntl(fd, F_GETLK, &request) == 0 && request.l_type != F_UNLCK;
    holder = locked ? std::max(request.l_pid, pid_t{0}) : 0;
    return locked;
}

// Takes a lock of the open file: a lock of the process would end when the program opens and closes
// the file. A lock of the process on the next byte names the holder.
int System::lock_open_file(int fd, pid_t &holder) {
    holder = 0;
    const int result = set_lock(fd, F_OFD_SETLK, owned_byte);
    if (result == 0) {
        set_lock(fd, F_SETLK, holder_byte);
    } else {
        const int error = errno;
        holder = std::max(holder_of(fd, holder_byte), holder_of(fd, owned_byte));
        errno = error;
    }
    return result;
}

void *System::map_pages(size_t size) {
    void *at = nullptr;
    if (size >= huge_page) {
        at = map_on_huge_page(size);
    } else {
        at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        at = at == MAP_FAILED ? nullptr : at;
    }
    if (at != nullptr && !make_present(at, size)) {
        ::munmap(at, size);
        return nullptr;
    }
    return at;
}

void System::unmap_pages(void *at, size_t size) { ::munmap(at, size); }

void *System::map_file(int fd, size_t size) {
    struct statfs where = {};
    if (::fstatfs(fd, &where) != 0 || where.f_type != TMPFS_MAGIC) {
        return nullptr;
    }
    void *at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    ::madvise(at, size, MADV_DONTDUMP); // the file has it
    ::madvise(at, size, MADV_DONTFORK); // the map would keep the file's locks
    return at;
}

void System::unmap_file(void *at, size_t size) { ::munmap(at, size); }

pid_t System::process() { return ::getpid(); }

uid_t System::user() { return ::geteuid(); }

int System::random(void *to, size_t length) { return ::getentropy(to, length); }

// Writes a short line in one call, since other ranks write to the same terminal.
void System::warn(const char *line) {
    std::array<char, 4096> text = {};
    size_t used = 0;
    const auto write_out = [&] {
        std::fwrite(text.data(), 1, used, stderr);
        used = 0;
    };
    const auto append = [&](std::string_view part) {
        if (part.size() > text.size() - used) {
            write_out();
        }
        std::memcpy(text.data() + used, part.data(), part.size());
        used += part.size();
    };
    append("containment-domains: ");
    for_each_printable(line, append);
    append("\n");
    write_out();
}

bool System::can_order_other_threads() {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void System::order_other_threads() {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        membarrier(MEMBARRIER_CMD_GLOBAL); // slower, and needs no registration
    }
}

int System::start_thread(pthread_t &thread, void *(*work)(void *), void *context) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = ::pthread_create(&thread, nullptr, work, context);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

void System::join_thread(pthread_t thread) { ::pthread_join(thread, nullptr); }

int System::at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
    return ::pthread_atfork(before, in_parent, in_child);
}

int System::create_thread_key(pthread_key_t &key, void (*at_end_of_thread)(void *)) {
    return ::pthread_key_create(&key, at_end_of_thread);
}

void System::delete_thread_key(pthread_key_t key) { ::pthread_key_delete(key); }

int System::set_for_thread(pthread_key_t key, const void *value) {
    return ::pthread_setspecific(key, value);
}

int System::working_directory(std::string &path) {
    path.resize(PATH_MAX);
    if (::getcwd(path.data(), path.size()) == nullptr) {
        return -1;
    }
    path.resize(std::strlen(path.c_str()));
    return 0;
}

int System::host_name(std::string &name) {
    char text[HOST_NAME_MAX + 1] = "";
    if (::gethostname(text, sizeof text - 1) != 0) {
        return -1;
    }
    name = text;
    return 0;
}

const char *System::environment(const char *name) { return std::getenv(name); }

uint64_t System::monotonic_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

System &system() { return *current_system; }

void replace_system(System *replacement) {
    current_system = replacement != nullptr ? replacement : &real_system;
}

} // namespace cd::os
