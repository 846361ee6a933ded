// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file.h"

#include "os/retry_eintr.h"
#include "os/system.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cd {
namespace {

// True for the errors of a block that cannot be read any more; all others may pass.
bool means_lost(int error) {
    return error == EIO || error == ENODATA || error == EILSEQ || error == EBADMSG ||
           error == EUCLEAN;
}

// where: "" or begins with a space.
Status refused_by_system(const char *path, const char *operation, const char *where) {
    const int error = errno;
    if (error == ENOSPC || error == EDQUOT) {
        return fail(CD_ERROR_STORE_FULL,
                    "%s: no room on the disk (\"%s\") to %s%s; free some and repeat the call, "
                    "which has changed nothing",
                    path, std::strerror(error), operation, where);
    }
    if (const uint64_t limit = os::system().file_size_limit();
        error == EFBIG && limit < INT64_MAX) {
        return fail(CD_ERROR_STORE_FULL,
                    "%s: cannot %s%s: a file of this process may have %llu bytes (RLIMIT_FSIZE); "
                    "raise that (ulimit -f) and repeat the call, which has changed nothing",
                    path, operation, where, static_cast<unsigned long long>(limit));
    }
    return fail(CD_ERROR_STORE_IO,
                "%s: cannot %s%s: \"%s\"; the call has changed nothing and can be repeated", path,
                operation, where, std::strerror(error));
}

} // namespace

void File::drop() noexcept {
    const int fd = std::exchange(fd_, -1);
    os::FileStatus now;
    if (fd >= 0 &&
        (!identity_ || os::system().status(fd, now) != 0 || now.identity == *identity_)) {
        os::system().close(fd);
    }
}

void File::remember_identity() {
    if (os::FileStatus found; is_open() && os::system().status(fd_, found) == 0) {
        identity_ = found.identity;
    }
}

Status File::check_identity() const {
    os::FileStatus now;
    const bool is_open = os::system().status(fd_, now) == 0;
    if (!is_open && errno != EBADF) {
        return refused("look at the file");
    }
    if (is_open && (!identity_ || now.identity == *identity_)) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORE_IO,
                "%s: the program has closed descriptor %d of this store%s. Nothing was read or "
                "written. Close only your own descriptors, and restart",
                path(), fd_, is_open ? " and opened another file by it" : "");
}

Status File::refused(const char *operation) const {
    return refused_by_system(path(), operation, "");
}

Status File::refused(const char *operation, uint64_t offset) const {
    const int error = errno;
    char where[sizeof " at offset 18446744073709551615"];
    std::snprintf(where, sizeof where, " at offset %llu", static_cast<unsigned long long>(offset));
    errno = error;
    return refused_by_system(path(), operation, where);
}

std::string_view without_repeating(std::string_view message) {
    for (const std::string_view end :
         {" and repeat the call, which has changed nothing",
          "; the call has changed nothing and can be repeated", ". Repeat the call"}) {
        if (message.ends_with(end)) {
            message.remove_suffix(end.size());
        }
    }
    return message;
}

std::string File::reason() const {
    std::string text = message();
    if (const std::string name = path_ + ": "; text.starts_with(name)) {
        text.erase(0, name.size());
    }
    return text.substr(0, text.find(". "));
}

Status File::read(uint64_t offset, void *to, size_t length) const {
    auto *at = static_cast<std::byte *>(to);
    for (bool again = false; length > 0;) {
        const ssize_t got = os::repeated(
            [&] { return os::system().read_at(fd_, at, length, static_cast<off_t>(offset)); });
        const auto place = static_cast<unsigned long long>(offset);
        if (got < 0 && means_lost(errno)) {
            if (again) {
                return fail(CD_ERROR_STORE_DAMAGED,
                            "%s: what is at offset %llu cannot be read any more (\"%s\", twice); "
                            "the disk has lost it, or cannot be reached",
                            path(), place, std::strerror(errno));
            }
            again = true;
            continue;
        }
        again = false;
        if (got < 0 && errno == EFAULT) {
            return fail(CD_ERROR_STORE_IO,
                        "%s: cannot read at offset %llu: the memory at %p for these %zu bytes "
                        "cannot be written to; delete it from the CD, or make it writable",
                        path(), place, static_cast<void *>(at), length);
        }
        if (got < 0) {
            return refused("read", offset);
        }
        if (got == 0) {
            return fail(CD_ERROR_STORE_DAMAGED,
                        "%s: the file ends at offset %llu, where %zu bytes should follow; it was "
                        "truncated",
                        path(), place, length);
        }
        at += got;
        offset += static_cast<uint64_t>(got);
        length -= static_cast<size_t>(got);
    }
    return Status::ok();
}

Status File::write(uint64_t offset, const void *from, size_t length) const {
    const int error = write(fd_, offset, static_cast<const std::byte *>(from), length);
    if (error == 0) {
        return Status::ok();
    }
    errno = error;
    return refused("write", offset);
}

int File::write(int fd, uint64_t &offset, const std::byte *from, size_t length) {
    while (length > 0) {
        const ssize_t put = os::repeated(
            [&] { return os::system().write_at(fd, from, length, static_cast<off_t>(offset)); });
        if (put <= 0) {
            return put < 0 ? errno : ENOSPC;
        }
        from += put;
        offset += static_cast<uint64_t>(put);
        length -= static_cast<size_t>(put);
    }
    return 0;
}

Status File::write_zeros(uint64_t offset, uint64_t length) const {
    static constexpr std::array<std::byte, size_t{16} << 10> zeros = {};
    for (uint64_t done = 0; done < length; done += zeros.size()) {
        const auto part = static_cast<size_t>(std::min<uint64_t>(zeros.size(), length - done));
        if (Status status = write(offset + done, zeros.data(), part); !status) {
            return status;
        }
    }
    return Status::ok();
}

Status File::grow(uint64_t from, uint64_t to) const {
    uint64_t size_before = 0;
    if (Status status = size(size_before); !status) {
        return status;
    }
    const int result = os::repeated([&] {
        return os::system().allocate(fd_, static_cast<off_t>(from), static_cast<off_t>(to - from));
    });
    if (result == 0) {
        return Status::ok();
    }
    const int error = errno;
    // Gives back the part that fitted, which on ext4 is the rest of the disk.
    (void)os::system().truncate(fd_, static_cast<off_t>(size_before));
    errno = error;
    return refused("reserve room", from);
}

void File::begin_sync(uint64_t offset, uint64_t length) const noexcept {
    os::system().begin_sync(fd_, static_cast<off_t>(offset), static_cast<off_t>(length));
}

Status File::sync_data() const {
    const int result = os::repeated([&] { return os::system().sync_data(fd_); });
    return result == 0 ? Status::ok() : refused("force data to the disk");
}

Status File::sync_all() const {
    const int result = os::repeated([&] { return os::system().sync_all(fd_); });
    return result == 0 ? Status::ok() : refused("force the file to the disk");
}

Status File::close() {
    const int fd = std::exchange(fd_, -1);
    return os::system().close(fd) == 0 ? Status::ok() : refused("close the file");
}

Status File::size(uint64_t &size) const {
    os::FileStatus status;
    if (os::system().status(fd_, status) != 0) {
        return refused("look at the file");
    }
    size = status.size;
    return Status::ok();
}

} // namespace cd
