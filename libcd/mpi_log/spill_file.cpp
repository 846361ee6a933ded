// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/spill_file.h"

#include "memory/crc32c.h"
#include "os/retry_eintr.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cd {
namespace {

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

// Opens a new file and removes its name, so that it ends with the process.
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

// Precedes the data of each extent in the file.
struct SpillFile::Header {
    uint64_t size = 0;
    uint64_t offset = 0;   // of the header: detects misplaced data
    uint64_t checksum = 0; // of these and the data

    uint32_t checksum_with(std::span<const std::byte> data) const {
        return crc32c(crc32c(0, &size, sizeof size + sizeof offset), data.data(), data.size());
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
    const int fd = open_and_remove(directory_);
    if (fd < 0 || os::system().identify(fd, identity_) != 0) {
        const Status status = cannot_write(directory_.c_str(), sizeof(Header), 0);
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
    Header header{data.size(), tail};
    header.checksum = header.checksum_with(data);
    Status status = write_out(std::as_bytes(std::span(&header, 1)), tail);
    status = status ? write_out(data, tail + sizeof header) : status;
    if (status) {
        extent = {tail, sizeof header + data.size()};
    }
    return status;
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
    Header header;
    Status status = read_in(std::as_writable_bytes(std::span(&header, 1)), extent.offset);
    status = status ? read_in(data, extent.offset + sizeof header) : status;
    const bool whole = header.offset == extent.offset && header.size == data.size() &&
                       header.checksum == header.checksum_with(data);
    return !status || whole ? status : damaged(extent.offset);
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
