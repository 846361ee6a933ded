// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/file_positions.h"

#include "os/system.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cd {
namespace {

Status refused(const Domain &domain, int descriptor, int error) {
    switch (error) {
    case EBADF:
        return fail(CD_ERROR_FILE_BAD_DESCRIPTOR,
                    "CD %s: file descriptor %d is not open; a file has to stay open as long as a "
                    "CD holds it, or be deleted from the CD first",
                    domain.name(), descriptor);
    case ESPIPE:
        return fail(
            CD_ERROR_FILE_NOT_SEEKABLE,
            "CD %s: file descriptor %d is a pipe, socket or terminal and has no position; add only "
            "files that support lseek",
            domain.name(), descriptor);
    default:
        return fail(CD_ERROR_FILE_SYSTEM,
                    "CD %s: file descriptor %d: the operating system says \"%s\"; repeat the call, "
                    "or leave the file out of the CD",
                    domain.name(), descriptor, std::strerror(error));
    }
}

Status opened_as_path(const Domain &domain, int descriptor) {
    return fail(CD_ERROR_FILE_NOT_SEEKABLE,
                "CD %s: file descriptor %d was opened with O_PATH and has no position; open the "
                "file for reading or writing and add that descriptor",
                domain.name(), descriptor);
}

} // namespace

Status read_position(const Domain &domain, int descriptor, FilePosition &file) {
    os::FileIdentity identity;
    if (os::system().identify(descriptor, identity) != 0) {
        return refused(domain, descriptor, errno);
    }
    const off_t position = os::system().seek(descriptor, 0, SEEK_CUR);
    if (position < 0) {
        return errno == EBADF ? opened_as_path(domain, descriptor)
                              : refused(domain, descriptor, errno);
    }
    file = {descriptor, identity.device, identity.inode, position, identity.born};
    return Status::ok();
}

Status check_same_file(const Domain &domain, const FilePosition &added, const FilePosition &now) {
    if (sameness(now, added) == Sameness::all) {
        return Status::ok();
    }
    return fail(CD_ERROR_FILE_CHANGED,
                "CD %s: file descriptor %d names another file (inode %llu) than when it was added "
                "(inode %llu); delete it from the CD before closing it",
                domain.name(), added.descriptor, static_cast<unsigned long long>(now.inode),
                static_cast<unsigned long long>(added.inode));
}

Status read_held_position(const Domain &holder, const FilePosition &added, FilePosition &now) {
    Status status = read_position(holder, added.descriptor, now);
    return status ? check_same_file(holder, added, now) : status;
}

Status read_positions(const Domain &domain, std::vector<FilePosition> &positions) {
    positions.clear();
    for (const FilePosition &added : domain.files) {
        FilePosition now;
        if (Status status = read_held_position(domain, added, now); !status) {
            return status;
        }
        positions.push_back(now);
    }
    return Status::ok();
}

Status set_position(const Domain &holder, const FilePosition &file) {
    if (os::system().seek(file.descriptor, file.position, SEEK_SET) >= 0) {
        return Status::ok();
    }
    const int error = errno;
    return fail(CD_ERROR_FILE_SYSTEM,
                "CD %s: file descriptor %d cannot be set back to %lld: \"%s\"; the CD can be "
                "restored again",
                holder.name(), file.descriptor, static_cast<long long>(file.position),
                std::strerror(error));
}

} // namespace cd
