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

// Which file a descriptor names.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t born = 0; // nanoseconds since the epoch; 0 where the file system does not tell
    bool operator==(const FileIdentity &) const = default;
};

// What a store wants to know of a file before it trusts it.
struct FileStatus {
    uint64_t size = 0;
    uid_t owner = 0;
    mode_t mode = 0; // type and permissions, as st_mode
    FileIdentity identity;
    uint64_t names = 1;
};

// What redundancy brings back together with a file's data.
struct FileAttributes {
    uint64_t size = 0;
    mode_t mode = 0; // type and permissions, as st_mode
    uid_t owner = 0;
    gid_t group = 0;
    timespec accessed = {};
    timespec modified = {};
    timespec changed = {};
};

// Every call to the operating system goes through here, so that a test can make each one fail.
// Functions that return int or off_t follow the system's convention: -1 and errno.
class System {
public:
    virtual ~System() = default;

    // Page-aligned memory with its pages present, or nullptr.
    virtual void *map_pages(size_t size);
    virtual void unmap_pages(void *at, size_t size);

    virtual off_t seek(int fd, off_t offset, int whence);
    virtual int identify(int fd, FileIdentity &identity);

    // Files of stores. Names are looked up in the directory that is open as directory. What is made
    // has what the mode says of its owner whatever the umask, where the file system has modes.
    virtual int open_at(int directory, const char *name, int flags, mode_t mode);
    virtual int close(int fd);
    virtual int status(int fd, FileStatus &status);
    virtual int attributes(int fd, FileAttributes &attributes);
    virtual int set_owner(int fd, uid_t owner, gid_t group);
    virtual int set_mode(int fd, mode_t mode);
    virtual int set_times(int fd, timespec accessed, timespec modified);
    // Also a directory that is there, and that another process has made just now under this umask.
    virtual int make_directory_at(int directory, const char *name, mode_t mode);
    virtual int link_at(int directory, const char *from, const char *to); // never replaces
    virtual int rename_at(int directory, const char *from, const char *to);
    virtual int unlink_at(int directory, const char *name);
    virtual int remove_directory_at(int directory, const char *name); // an empty one
    virtual ssize_t read_at(int fd, void *to, size_t length, off_t offset);
    virtual ssize_t write_at(int fd, const void *from, size_t length, off_t offset);
    // The file once more, to write whole blocks from whole pages to it past the page cache, or -1:
    // only where that was measured to be faster, from so many bytes on that an operation writes.
    virtual int open_direct(int fd, uint64_t &pays_from);
    // The file grows to contain it. Where there is not so much room it may grow by what there is.
    virtual int allocate(int fd, off_t offset, off_t length);
    virtual int truncate(int fd, off_t size);
    // Bytes that files beside this one can still get; the largest number where that is not known.
    virtual int room(int fd, uint64_t &bytes);
    virtual int list(int directory, std::vector<std::string> &names); // without . and ..
    // How long this process may make a file. A write behind that, or room for one, is refused with
    // EFBIG, without the signal (SIGXFSZ).
    virtual uint64_t file_size_limit();
    // The file's first size bytes, to be written where they are, or nullptr: only where files live
    // in memory. It may be longer than the file, whose end nobody may pass. A process that is
    // forked does not have it.
    virtual void *map_file(int fd, size_t size);
    virtual void unmap_file(void *at, size_t size);
    // The system begins to write these bytes to the disk, and nobody waits for it.
    virtual int begin_sync(int fd, off_t offset, off_t length);
    virtual int sync_data(int fd);
    virtual int sync_all(int fd);            // of a directory: its entries
    virtual int lock(int fd, pid_t &holder); // for this process, until it ends or closes the file
    // Whether another process has that lock; holder: which, 0: not known. Locks nothing itself.
    virtual bool is_locked(int fd, pid_t &holder);
    // For the open file, until all descriptors of it are closed, those of forked processes too.
    // holder: who has it, when it fails; 0: not known.
    virtual int lock_open_file(int fd, pid_t &holder);
    // The descriptor names its file anew, for reading only: what it was has its locks.
    virtual int reopen(int fd);
    virtual pid_t process();
    virtual uid_t user();
    virtual int random(void *to, size_t length);
    // To people, on standard error; what would control their terminal becomes \xNN.
    virtual void warn(const char *line);

    // Makes every other thread of the process see what this one has written, and this one what they
    // have: each passes a full memory barrier. Only where the system can; it is asked once.
    virtual bool can_order_other_threads();
    virtual void order_other_threads();

    // A thread that runs work(context), and takes no signals of the program. Returns 0 or an error.
    virtual int start_thread(pthread_t &thread, void *(*work)(void *), void *context);
    virtual void join_thread(pthread_t thread);

    // As the functions of POSIX threads that they are: 0 or an error.
    virtual int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());
    virtual int create_thread_key(pthread_key_t &key, void (*at_end_of_thread)(void *));
    virtual void delete_thread_key(pthread_key_t key);
    virtual int set_for_thread(pthread_key_t key, const void *value);

    virtual int working_directory(std::string &path);
    // Where a path leads that exists, from the root and without symbolic links.
    virtual int real_path(const char *path, std::string &real);
    virtual int host_name(std::string &name);
    virtual const char *environment(const char *name);
    virtual uint64_t monotonic_ns();
};

System &system();

// For tests: calls go to replacement until it is set back to nullptr. The caller keeps it alive and
// makes sure that no other thread is inside the library.
void replace_system(System *replacement);

} // namespace os
} // namespace cd
