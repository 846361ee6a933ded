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

// An open file: every transfer is complete, or an error that names file and offset. Bytes that the
// disk has lost are CD_ERROR_STORE_DAMAGED; other errors may pass. The
// destructor closes the file.
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
    ~File() { drop(); }

    // Closes the file, if it is open and no other file has its number.
    void drop() noexcept;

    // Remembers which file is open: a program may close the descriptor and get its number for a
    // file of its own. check_identity() fails then.
    void remember_identity();
    Status check_identity() const;

    int descriptor() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    const char *path() const { return path_.c_str(); }
    void set_path(std::string path) { path_ = std::move(path); }

    Status read(uint64_t offset, void *to, size_t length) const;
    Status write(uint64_t offset, const void *from, size_t length) const;
    // Writes by a descriptor. Returns 0, or errno with its place in offset.
    static int write(int fd, uint64_t &offset, const std::byte *from, size_t length);
    Status write_zeros(uint64_t offset, uint64_t length) const;
    Status grow(uint64_t from, uint64_t to) const;
    // Starts writing to the disk, to make the next sync_data() short. A failure does no harm.
    void begin_sync(uint64_t offset, uint64_t length) const noexcept;
    Status sync_data() const;
    Status sync_all() const;
    Status size(uint64_t &size) const;
    // Closes the file in any case, and reports what the system says.
    Status close();

    // Returns the error for errno after an operation.
    Status refused(const char *operation) const;
    Status refused(const char *operation, uint64_t offset) const;
    // Returns the last error without file name and remedy, to be part of another message.
    std::string reason() const;

private:
    int fd_ = -1;
    std::string path_;
    std::optional<os::FileIdentity> identity_;
};

// Returns a message without its advice to repeat the call.
std::string_view without_repeating(std::string_view message);

} // namespace cd
