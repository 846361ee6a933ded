// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/spill_file.h"

#include "memory/crc32c.h"
#include "os/retry_eintr.h"

#include <fcntl.h>
#include <lz4.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cd {
namespace {

constexpr size_t block_size = size_t{256} << 10; // before compression

// A block that does not become smaller than this is stored uncompressed.
constexpr size_t worth_compressing(size_t size) { return size - size / 16; }

Status cannot_write(const char *directory, size_t bytes, uint64_t offset) {
    const int error = errno;
    return fail(
        CD_ERROR_LOG_SPILL,
        "the MPI log cannot write %zu bytes at offset %llu of its file in %s: \"%s\"; give a "
        "dir= with room or a larger log_limit, or advance more often",
        bytes, static_cast<unsigned long long>(offset), directory, std::strerror(error));
}

Status cannot_read(const char *directory, size_t bytes, uint64_t offset) {
    const int error = errno;
    return fail(
        CD_ERROR_LOG_SPILL,
        "the MPI log cannot read %zu bytes at offset %llu of its file in %s: \"%s\"; restore "
        "all ranks, and give a dir= on another disk",
        bytes, static_cast<unsigned long long>(offset), directory, std::strerror(error));
}

// Opens a file without a name, if the file system supports that.
int open_nameless(const char *directory) {
    return os::system().open_at(AT_FDCWD, directory, O_TMPFILE | O_RDWR | O_EXCL,
                                S_IRUSR | S_IWUSR);
}

int open_and_remove(const std::string &directory) {
    os::System &system = os::system();
    uint64_t number = 0;
    if (system.random(&number, sizeof number) != 0) {
        return -1;
    }
    char name[48];
    std::snprintf(name, sizeof name, "/.cd-log-%ld-%016llx", static_cast<long>(system.process()),
                  static_cast<unsigned long long>(number));
    const std::string path = directory + name;
    const int fd = system.open_at(AT_FDCWD, path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR,
                                  S_IRUSR | S_IWUSR);
    if (fd >= 0 && system.unlink_at(AT_FDCWD, path.c_str()) != 0) {
        const int error = errno;
        system.close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

} // namespace

// Precedes each block in the file.
struct SpillFile::BlockHeader {
    uint32_t checksum = 0; // of the rest, and the block
    uint32_t stored = 0;
    uint32_t size = 0; // before compression; equals stored if the block is not compressed
    uint32_t reserved = 0;
    uint64_t offset = 0; // of the header: tells a misplaced block

    uint32_t checksum_with(const std::byte *block) const {
        const size_t rest = sizeof(BlockHeader) - sizeof checksum;
        return crc32c(crc32c(0, &stored, rest), block, stored);
    }
};

SpillFile::~SpillFile() {
    if (fd_ >= 0 && is_ours()) {
        os::system().close(fd_);
    }
}

bool SpillFile::is_ours() const {
    os::FileIdentity now;
    return os::system().identify(fd_, now) == 0 && now == identity_;
}

Status SpillFile::open() {
    if (directory_.empty()) {
        const char *given = os::system().environment("TMPDIR");
        directory_ = given != nullptr && *given != '\0' ? given : "/tmp";
    }
    int fd = open_nameless(directory_.c_str());
    // The errors of file systems and kernels without support for files without a name.
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
        fd = open_and_remove(directory_);
    }
    if (fd < 0 || os::system().identify(fd, identity_) != 0) {
        const Status status = cannot_write(directory_.c_str(), block_size, 0);
        if (fd >= 0) {
            os::system().close(fd);
        }
        return status;
    }
    fd_ = fd;
    return Status::ok();
}

Status SpillFile::check_open() const {
    if (is_ours()) {
        return Status::ok();
    }
    return fail(CD_ERROR_LOG_SPILL,
                "descriptor %d of the MPI log's file was closed by the program; close only "
                "descriptors that the program has opened",
                fd_);
}

Status SpillFile::write(uint64_t tail, std::span<const std::byte> data, Extent &extent) {
    if (Status status = fd_ < 0 ? open() : check_open(); !status) {
        return status;
    }
    Extent written = {tail, 0};
    const auto room = static_cast<size_t>(LZ4_compressBound(block_size));
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(sizeof(BlockHeader) + room);
    std::byte *const block = buffer.get() + sizeof(BlockHeader);
    while (!data.empty()) {
        const auto part = data.first(std::min(block_size, data.size()));
        const int compressed = LZ4_compress_default(
            reinterpret_cast<const char *>(part.data()), reinterpret_cast<char *>(block),
            static_cast<int>(part.size()), static_cast<int>(room));
        BlockHeader header;
        header.size = static_cast<uint32_t>(part.size());
        header.stored = static_cast<uint32_t>(compressed);
        if (compressed <= 0 || static_cast<size_t>(compressed) > worth_compressing(part.size())) {
            std::memcpy(block, part.data(), part.size());
            header.stored = header.size;
        }
        header.offset = tail + written.length;
        header.checksum = header.checksum_with(block);
        std::memcpy(buffer.get(), &header, sizeof header);
        const size_t length = sizeof header + header.stored;
        if (Status status = write_out({buffer.get(), length}, header.offset); !status) {
            return status;
        }
        written.length += length;
        data = data.subspan(part.size());
    }
    extent = written;
    return Status::ok();
}

Status SpillFile::write_out(std::span<const std::byte> bytes, uint64_t offset) const {
    while (!bytes.empty()) {
        const ssize_t done = os::repeated([&] {
            return os::system().write_at(fd_, bytes.data(), bytes.size(),
                                         static_cast<off_t>(offset));
        });
        if (done > 0) {
            bytes = bytes.subspan(static_cast<size_t>(done));
            offset += static_cast<uint64_t>(done);
        } else {
            errno = done == 0 ? ENOSPC : errno;
            return cannot_write(directory_.c_str(), bytes.size(), offset);
        }
    }
    return Status::ok();
}

Status SpillFile::read(const Extent &extent, std::span<std::byte> data) const {
    if (Status status = check_open(); !status) {
        return status;
    }
    uint64_t at = extent.offset;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(block_size);
    while (!data.empty()) {
        BlockHeader header;
        if (Status status = read_in(std::as_writable_bytes(std::span(&header, 1)), at); !status) {
            return status;
        }
        const size_t size = std::min(block_size, data.size());
        if (header.offset != at || header.size != size || header.stored > size) {
            return damaged(at);
        }
        if (Status status = read_in({buffer.get(), header.stored}, at + sizeof header); !status) {
            return status;
        }
        if (header.checksum != header.checksum_with(buffer.get())) {
            return damaged(at);
        }
        if (header.stored == size) {
            std::memcpy(data.data(), buffer.get(), size);
        } else if (LZ4_decompress_safe(reinterpret_cast<const char *>(buffer.get()),
                                       reinterpret_cast<char *>(data.data()),
                                       static_cast<int>(header.stored),
                                       static_cast<int>(size)) != static_cast<int>(size)) {
            return damaged(at);
        }
        at += sizeof header + header.stored;
        data = data.subspan(size);
    }
    return Status::ok();
}

Status SpillFile::read_in(std::span<std::byte> into, uint64_t offset) const {
    while (!into.empty()) {
        const ssize_t done = os::repeated([&] {
            return os::system().read_at(fd_, into.data(), into.size(), static_cast<off_t>(offset));
        });
        if (done > 0) {
            into = into.subspan(static_cast<size_t>(done));
            offset += static_cast<uint64_t>(done);
        } else if (done == 0) {
            return damaged(offset); // the file has become shorter
        } else {
            return cannot_read(directory_.c_str(), into.size(), offset);
        }
    }
    return Status::ok();
}

Status SpillFile::damaged(uint64_t offset) const {
    return fail(CD_ERROR_LOG_SPILL,
                "the MPI log's file in %s is damaged at offset %llu; restore all ranks, and give a "
                "dir= on another disk",
                directory_.c_str(), static_cast<unsigned long long>(offset));
}

} // namespace cd
