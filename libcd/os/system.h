// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace cd {

inline constexpr size_t cache_line = 64;
inline constexpr size_t small_page = size_t{4} << 10;
inline constexpr size_t huge_page = size_t{2} << 20;

namespace os {

// Identifies a file.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t born = 0; // nanoseconds since the epoch; 0 if unknown
    bool operator==(const FileIdentity &) const = default;
};

// The properties that a store verifies before it trusts a file.
struct FileStatus {
    uint64_t size = 0;
    uid_t owner = 0;
    mode_t mode = 0; // type and permissions, as st_mode
    FileIdentity identity;
    uint64_t names = 1;
};

// The properties that redundancy restores with a file's data.
struct FileAttributes {
    uint64_t size = 0;
    mode_t mode = 0; // type and permissions, as st_mode
    uid_t owner = 0;
    gid_t group = 0;
    timespec accessed = {};
    timespec modified = {};
    timespec changed = {};
};

// All calls to the operating system, so that a test can make each one fail. Functions that return
// int or off_t follow the system's convention: -1 and errno.
class System {
public:
    virtual ~System() = default;

    // Maps page-aligned memory with its pages present, or returns nullptr.
    virtual void *map_pages(size_t size);
    virtual void unmap_pages(void *at, size_t size);

    virtual off_t seek(int fd, off_t offset, int whence);
    virtual int identify(int fd, FileIdentity &identity);

    // Opens name in the open directory.
    virtual int open_at(int directory, const char *name, int flags, mode_t mode);
    virtual int close(int fd);
    virtual int status(int fd, FileStatus &status);
    virtual int attributes(int fd, FileAttributes &attributes);
    virtual int set_owner(int fd, uid_t owner, gid_t group);
    virtual int set_mode(int fd, mode_t mode);
    virtual int set_times(int fd, timespec accessed, timespec modified);
    virtual int make_directory_at(int directory, const char *name, mode_t mode);
    virtual int link_at(int directory, const char *from, const char *to); // never replaces
    virtual int rename_at(int directory, const char *from, const char *to);
    virtual int unlink_at(int directory, const char *name);
    virtual int remove_directory_at(int directory, const char *name); // an empty one
    virtual ssize_t read_at(int fd, void *to, size_t length, off_t offset);
    virtual ssize_t write_at(int fd, const void *from, size_t length, off_t offset);
    // Opens the file again to write past the page cache, or returns -1. pays_from: the size of an
    // operation from which on that is faster, by measurement.
    virtual int open_direct(int fd, uint64_t &pays_from);
    // Enlarges the file to contain the range. On failure it may have grown by a part.
    virtual int allocate(int fd, off_t offset, off_t length);
    virtual int truncate(int fd, off_t size);
    virtual int list(int directory, std::vector<std::string> &names); // without . and ..
    // Returns the process's limit for file sizes. Writes beyond it fail with EFBIG, without the
    // signal SIGXFSZ.
    virtual uint64_t file_size_limit();
    // Maps the first size bytes of a file in tmpfs for writing, or returns nullptr. The map may be
    // longer than the file, but must not be touched behind its end. Forked processes do not get it.
    virtual void *map_file(int fd, size_t size);
    virtual void unmap_file(void *at, size_t size);
    // Starts to write these bytes to the disk, and does not wait.
    virtual int begin_sync(int fd, off_t offset, off_t length);
    virtual int sync_data(int fd);
    virtual int sync_all(int fd);            // of a directory: its entries
    virtual int lock(int fd, pid_t &holder); // for this process, until it ends or closes the file
    // True if another process has that lock. holder: its id; 0 if unknown.
    virtual bool is_locked(int fd, pid_t &holder);
    // Locks the open file until all its descriptors are closed, in forked processes too. holder: on
    // failure the process that has the lock; 0 if unknown.
    virtual int lock_open_file(int fd, pid_t &holder);
    virtual pid_t process();
    virtual uid_t user();
    virtual int random(void *to, size_t length);
    // Prints a line on standard error. Control characters become \xNN.
    virtual void warn(const char *line);

    // Makes every other thread of the process pass a full memory barrier, if the system can.
    virtual bool can_order_other_threads();
    virtual void order_other_threads();

    // Starts a thread that runs work(context) with all signals blocked. Returns 0 or an error.
    virtual int start_thread(pthread_t &thread, void *(*work)(void *), void *context);
    virtual void join_thread(pthread_t thread);

    // The functions of POSIX threads. Return 0 or an error.
    virtual int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());
    virtual int create_thread_key(pthread_key_t &key, void (*at_end_of_thread)(void *));
    virtual void delete_thread_key(pthread_key_t key);
    virtual int set_for_thread(pthread_key_t key, const void *value);

    virtual int working_directory(std::string &path);
    virtual int host_name(std::string &name);
    virtual const char *environment(const char *name);
    virtual uint64_t monotonic_ns();
};

System &system();

// Sends all calls to replacement, for tests; nullptr: back to the system. The caller keeps it
// alive. No other thread may be inside the library.
void replace_system(System *replacement);

} // namespace os
} // namespace cd
