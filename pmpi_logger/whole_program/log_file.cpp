// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "whole_program/log_file.h"

#include "call/function.h"
#include "store/crc32c.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace cd::logger {
namespace {

constexpr size_t block_size = size_t{1} << 20;

struct FileHeader {
    char magic[8] = {'C', 'D', 'M', 'P', 'I', 'L', 'O', 'G'};
    uint32_t version = 3;
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
    uint64_t missed = 0;   // that are in no block up to there, since they could not be recorded
};

} // namespace

LogFile::~LogFile() { close(); }

void LogFile::open(const std::string &directory, const std::string &name, int rank,
                   bool unlike_others) {
    constexpr const char *suffix = ".cdmpilog";
    path_ = directory + "/" + name + suffix;
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
        give_up("make the directory of");
        return;
    }
    const int flags =
        O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (unlike_others ? O_EXCL : O_TRUNC);
    descriptor_ = ::open(path_.c_str(), flags, 0600);
    for (int i = 2; unlike_others && descriptor_ < 0 && errno == EEXIST; ++i) {
        path_ = directory;
        path_.append("/").append(name).append("-").append(std::to_string(i)).append(suffix);
        descriptor_ = ::open(path_.c_str(), flags, 0600);
    }
    if (descriptor_ < 0) {
        give_up("create");
        return;
    }
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
    bool added = add_to_block(entry, size);
    if (!added && !block_.empty()) { // perhaps there is room in what has been written
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
        return true;
    } catch (const std::bad_alloc &) {
        block_.erase(block_.begin() + static_cast<ptrdiff_t>(before), block_.end());
        return false;
    }
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
    if (is_open() && is_ours() && ::close(descriptor_) != 0) {
        give_up("close");
    }
    descriptor_ = -1;
}

void LogFile::write_what_there_is() {
    if (is_open() && (!block_.empty() || missed_ > missed_written_)) {
        write_block();
    }
}

void LogFile::write_block() {
    if (process_ != getpid()) { // the parent's file, and its entries
        block_.clear();
        return;
    }
    if (!is_ours()) {
        descriptor_ = -1; // nor is it ours to close
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
