// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "../replaced_system.h"

#include <cerrno>

namespace cd {

// Fails the call number `failing` of those that a store or an image needs.
class FailingSystem : public ReplacedSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        return fails(EIO) ? -1 : System::open_at(directory, name, flags, mode);
    }
    int status(int fd, os::FileStatus &status) override {
        return fails(EIO) ? -1 : System::status(fd, status);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        // ENOMEM, since other errors of reads are tried again.
        return fails(ENOMEM) ? -1 : System::read_at(fd, to, length, offset);
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        return fails(ENOSPC) ? -1 : System::write_at(fd, from, length, offset);
    }
    int link_at(int directory, const char *from, const char *to) override {
        return fails(EIO) ? -1 : System::link_at(directory, from, to);
    }
    int rename_at(int directory, const char *from, const char *to) override {
        return fails(EIO) ? -1 : System::rename_at(directory, from, to);
    }
    int random(void *to, size_t length) override {
        return fails(EIO) ? -1 : System::random(to, length);
    }
    int sync_all(int fd) override { return fails(EIO) ? -1 : System::sync_all(fd); }

    int failing = -1; // of the calls from now on
    bool failed = false;

private:
    bool fails(int error) {
        if (failing-- != 0) {
            return false;
        }
        errno = error;
        failed = true;
        return true;
    }
};

} // namespace cd
