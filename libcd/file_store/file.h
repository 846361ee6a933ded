// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "os/system.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cd {

// An open file of a store: every transfer is complete or an error that names file and offset. What
// cannot be read any more, also when it is read again, is damaged; a read that fails for another
// reason may succeed the next time.
// Closes the file at its end.
class File {
public:
    File() = default;
    File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
    File(File &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)),
          identity_(other.identity_) {}
    File &operator=(File &&other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(path_, other.path_);
        std::swap(identity_, other.identity_);
        return *this;
    }
    ~File();

    int descriptor() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    const char *path() const { return path_.c_str(); }
    void set_path(std::string path) { path_ = std::move(path); }

    // From now on it is known which file it is, if the system tells: a program may close all
    // descriptors that it does not know, and open files of its own. These are not closed.
    void remember_identity();
    // That the descriptor leads to this file, and what the system says of that now.
    Status check_leads_here(int descriptor, os::FileStatus &now) const;
    bool leads_here(int descriptor) const noexcept;
    // Nothing is closed: the descriptor is somebody else's.
    void forget() { fd_ = -1; }

    Status read(uint64_t offset, void *to, size_t length) const;
    Status write(uint64_t offset, const void *from, size_t length) const;
    // The same by a descriptor: 0 or errno, and in offset where that was.
    static int write(int fd, uint64_t &offset, const std::byte *from, size_t length);
    Status write_zeros(uint64_t offset, uint64_t length) const;
    Status grow(uint64_t from, uint64_t to) const;
    // Makes the next sync_data() short. That it cannot be done does no harm.
    void begin_sync(uint64_t offset, uint64_t length) const noexcept;
    Status sync_data() const;
    Status sync_all() const;
    Status size(uint64_t &size) const;
    // Where the first byte from offset on is that the file has no room for, and which reads as 0;
    // the largest number where there is none, or the system does not tell.
    uint64_t hole_behind(uint64_t offset) const;
    // For who wrote and wants to know what the system says of it at last. Closed in any case.
    Status close();

    // The error for errno after an operation, at an offset where that says anything.
    Status refused(const char *operation) const;
    Status refused(const char *operation, uint64_t offset) const;
    // What the last error of it says, for a line that names the file and says what was done:
    // without both.
    std::string reason() const;

private:
    Status lost(uint64_t offset) const;

    int fd_ = -1;
    std::string path_;
    std::optional<os::FileIdentity> identity_;
};

// Of an error's message that is told elsewhere, without what it says to who could repeat the call.
std::string_view without_repeating(std::string_view message);

} // namespace cd
