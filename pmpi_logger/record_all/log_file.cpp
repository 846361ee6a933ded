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
#include <filesystem>
#include <new>
#include <regex>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
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

// Locks the file for this process. Returns false with EWOULDBLOCK if another process has it; true
// where files cannot be locked.
bool take(int descriptor) {
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

// True if another process removed it as a file of an earlier run.
bool is_removed(int descriptor) {
    struct stat file = {};
    return fstat(descriptor, &file) == 0 && file.st_nlink == 0;
}

// Opens an empty file for this process alone. Returns -1 and sets errno on failure.
int open_alone(const std::string &path, int flags) {
    constexpr int most_removals = 10; // some file systems count no links
    for (int i = 0;; ++i) {
        const int descriptor = os::system().open_at(AT_FDCWD, path.c_str(),
                                                    O_WRONLY | O_CREAT | O_NOFOLLOW | flags, 0600);
        if (descriptor < 0) {
            return -1;
        }
        if (!take(descriptor)) {
            ::close(descriptor);
            errno = EWOULDBLOCK;
            return -1;
        }
        if (i == most_removals || !is_removed(descriptor)) {
            if (ftruncate(descriptor, 0) == 0) {
                return descriptor;
            }
            const int error = errno;
            ::close(descriptor);
            errno = error;
            return -1;
        }
        ::close(descriptor);
    }
}

} // namespace

LogFile::~LogFile() { close(); }

bool LogFile::open(const std::string &directory, const std::string &name, int rank) {
    if (make(directory, name, 0)) {
        begin(rank);
    } else if (errno == EWOULDBLOCK) {
        return false;
    } else {
        give_up("create");
    }
    return true;
}

void LogFile::open_unlike_others(const std::string &directory, const std::string &name, int rank) {
    bool made = make(directory, name, O_EXCL);
    for (int i = 2; !made && errno == EEXIST; ++i) {
        made = make(directory, name + "-" + std::to_string(i), O_EXCL);
    }
    if (made) {
        begin(rank);
    } else {
        give_up("create");
    }
}

// Returns false and sets errno on failure.
bool LogFile::make(const std::string &directory, const std::string &name, int flags) {
    path_ = directory + "/" + name + ".cdmpilog";
    if (os::system().make_directory_at(AT_FDCWD, directory.c_str(), 0700) != 0 && errno != EEXIST) {
        return false;
    }
    descriptor_ = open_alone(path_, flags);
    return is_open();
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

void LogFile::flush() {
    const std::scoped_lock lock(mutex_);
    write_what_there_is();
}

void LogFile::flush_if_possible() {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
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

namespace {

bool is_in_use(const std::string &path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const bool taken = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return taken;
}

} // namespace

void remove_earlier_files(const std::string &directory, int rank, int size) {
    static const std::regex of_a_rank("rank-([0-9]{1,9})(\\.thread-[0-9]+)?\\.cdmpilog");
    if (is_in_use(directory + "/rank-" + std::to_string(rank) + ".cdmpilog")) {
        return;
    }
    std::error_code error; // files that cannot be removed stay
    for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end;
         file.increment(error)) {
        const std::string name = file->path().filename().string();
        std::smatch parts;
        if (!std::regex_match(name, parts, of_a_rank)) {
            continue;
        }
        const int whose = std::stoi(parts[1]);
        if ((whose == rank || (rank == 0 && whose >= size)) && !is_in_use(file->path().string())) {
            std::error_code stays;
            std::filesystem::remove(file->path(), stays);
        }
    }
}

} // namespace cd::logger
