// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "record_all/log_file.h"

#include "memory/crc32c.h"
#include "mpi/function.h"
#include "os/system.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cd::logger {
namespace {

constexpr size_t block_size = size_t{1} << 20;

struct FileHeader {
    char magic[8] = {'C', 'D', 'M', 'P', 'I', 'L', 'O', 'G'};
    uint32_t version = 4;
    int32_t rank = 0;
    uint32_t names_size = 0; // of the functions' names, each with its NUL, that follow
    uint32_t names_checksum = 0;
    int64_t begun = 0; // seconds since 1970
};

struct BlockHeader {
    char magic[4] = {'C', 'D', 'L', 'B'};
    uint32_t checksum = 0; // of the rest of the header, and the entries
    uint64_t size = 0;     // of the entries
    uint64_t entries = 0;  // in the file, up to the block's end
    uint64_t missed = 0;   // entries that could not be recorded
};

// Opens an empty file for this process alone. Returns -1 and sets errno on failure. Where files
// cannot be locked, others may have it, too.
int open_alone(const std::string &path) {
    const int descriptor =
        os::system().open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
        return -1;
    }
    const bool is_taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && ftruncate(descriptor, 0) == 0) {
        return descriptor;
    }
    const int error = errno;
    ::close(descriptor);
    errno = error;
    return -1;
}

} // namespace

LogFile::~LogFile() { close(); }

void LogFile::open(const std::string &directory, const std::string &name, int rank) {
    path_ = directory + "/" + name + ".cdmpilog";
    if (os::system().make_directory_at(AT_FDCWD, directory.c_str(), 0700) == 0 || errno == EEXIST) {
        descriptor_ = open_alone(path_);
    }
    if (is_open()) {
        begin(rank);
    } else {
        give_up(errno == EWOULDBLOCK ? "create (another process has it open)" : "create");
    }
}

void LogFile::begin(int rank) {
    struct stat file = {};
    if (fstat(descriptor_, &file) != 0) {
        give_up("look at");
        return;
    }
    process_ = getpid();
    device_ = file.st_dev;
    inode_ = file.st_ino;
    std::string names;
    for (uint16_t fn = 0; fn < static_cast<uint16_t>(Fn::count); ++fn) {
        names += name_of(static_cast<Fn>(fn));
        names += '\0';
    }
    FileHeader header;
    header.rank = rank;
    header.begun = std::time(nullptr);
    header.names_size = static_cast<uint32_t>(names.size());
    header.names_checksum = crc32c(0, names.data(), names.size());
    if (!write_all(&header, sizeof header) || !write_all(names.data(), names.size())) {
        give_up("write");
    }
}

bool LogFile::is_ours() const {
    struct stat file = {};
    return fstat(descriptor_, &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
}

void LogFile::append(const void *entry, uint64_t size) {
    const std::scoped_lock lock(mutex_);
    if (!is_open()) {
        return;
    }
    last_.reset();
    bool added = add_to_block(entry, size);
    if (!added && !block_.empty()) { // writing the block out makes room
        write_block();
        added = is_open() && add_to_block(entry, size);
    }
    if (!added) {
        ++missed_;
        return;
    }
    ++entries_;
    if (block_.size() >= block_size) {
        write_block();
    }
}

bool LogFile::add_to_block(const void *entry, uint64_t size) {
    const size_t before = block_.size();
    const auto put = [this](const void *data, size_t length) {
        const auto *from = static_cast<const std::byte *>(data);
        block_.insert(block_.end(), from, from + length);
    };
    try {
        put(&size, sizeof size);
        put(entry, size);
        last_ = before + sizeof size;
        return true;
    } catch (const std::bad_alloc &) {
        block_.erase(block_.begin() + static_cast<ptrdiff_t>(before), block_.end());
        return false;
    }
}

bool LogFile::change_last(const void *beginning, size_t size) {
    const std::scoped_lock lock(mutex_);
    if (is_open() && last_) {
        std::memcpy(block_.data() + *last_, beginning, size);
    }
    return !is_open() || last_;
}

void LogFile::miss() {
    const std::scoped_lock lock(mutex_);
    ++missed_;
}

void LogFile::flush(bool waits) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (waits && !lock) {
        lock.lock();
    }
    if (lock) {
        write_what_there_is();
    }
}

void LogFile::close() {
    const std::scoped_lock lock(mutex_);
    if (process_ == getpid()) {
        write_what_there_is();
    }
    if (is_open() && is_ours()) {
        if (process_ == getpid()) { // a forked child may keep a copy for long
            flock(descriptor_, LOCK_UN);
        }
        if (::close(descriptor_) != 0) {
            give_up("close");
        }
    }
    descriptor_ = -1;
}

void LogFile::write_what_there_is() {
    if (is_open() && (!block_.empty() || missed_ > missed_written_)) {
        write_block();
    }
}

void LogFile::write_block() {
    last_.reset();
    if (process_ != getpid()) { // the file and its entries are the parent's
        block_.clear();
        return;
    }
    if (!is_ours()) {
        descriptor_ = -1; // and not ours to close
        errno = EBADF;
        give_up("write");
        return;
    }
    BlockHeader header;
    header.size = block_.size();
    header.entries = entries_;
    header.missed = missed_;
    header.checksum = crc32c(0, &header.size, sizeof header - offsetof(BlockHeader, size));
    header.checksum = crc32c(header.checksum, block_.data(), block_.size());
    if (!write_all(&header, sizeof header) || !write_all(block_.data(), block_.size())) {
        give_up("write");
    }
    missed_written_ = header.missed;
    block_.clear();
}

bool LogFile::write_all(const void *data, size_t size) {
    const auto *from = static_cast<const std::byte *>(data);
    while (size > 0) {
        const ssize_t written = ::write(descriptor_, from, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            from += written;
            size -= static_cast<size_t>(written);
        }
    }
    return true;
}

void LogFile::give_up(const char *doing) {
    std::fprintf(
        stderr,
        "pmpi_logger: cannot %s the log file %s: %s; the program goes on, and its MPI calls "
        "are not written any more\n",
        doing, path_.c_str(), std::strerror(errno));
    block_ = {};
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    descriptor_ = -1;
}

} // namespace cd::logger
