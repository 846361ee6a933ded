// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "../replaced_system.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace cd {

// The calls that spilling makes, also from its own thread. They are counted, and one of them, or
// all from one on, can be made to fail. The process's pool is empty when it starts and ends.
class SpillSystem : public ReplacedSystem {
public:
    enum Kind { opening, identifying, writing, reading, mapping, kinds };

    SpillSystem() {
        PagePool::instance().trim(); // of what earlier tests have left
        mapped = 0;
    }
    ~SpillSystem() override { PagePool::instance().trim(); }

    // The n-th call of kind from now on fails, and those after it if for_good.
    void fail(Kind kind, int n, bool for_good = false) {
        forever_ = for_good;
        fail_at_[kind] = calls[kind] + n;
    }
    void fail_no_more() { std::ranges::fill(fail_at_, -1); }

    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        if (fails(opening, EACCES)) {
            return -1;
        }
        last_opened = System::open_at(directory, name, flags, mode);
        return last_opened;
    }
    int identify(int fd, os::FileIdentity &identity) override {
        return fails(identifying, EIO) ? -1 : System::identify(fd, identity);
    }
    ssize_t write_at(int fd, const void *from, size_t length, off_t offset) override {
        if (fails(writing, ENOSPC)) {
            return -1;
        }
        return System::write_at(fd, from, std::min(length, most_at_once), offset);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        if (fails(reading, EIO)) {
            return -1;
        }
        return System::read_at(fd, to, std::min(length, most_at_once), offset);
    }
    void *map_pages(size_t size) override {
        if (fails(mapping, ENOMEM)) {
            return nullptr;
        }
        const size_t now = mapped += size;
        size_t before = most_mapped;
        while (now > before && !most_mapped.compare_exchange_weak(before, now)) {
        }
        return System::map_pages(size);
    }
    void unmap_pages(void *at, size_t size) override {
        mapped -= size;
        System::unmap_pages(at, size);
    }

    std::atomic<int> calls[kinds] = {};
    std::atomic<int> last_opened = -1;
    std::atomic<size_t> mapped = 0;
    std::atomic<size_t> most_mapped = 0;
    size_t most_at_once = SIZE_MAX;

private:
    bool fails(Kind kind, int error) {
        const int call = calls[kind]++;
        const int at = fail_at_[kind];
        if (at < 0 || (forever_ ? call < at : call != at)) {
            return false;
        }
        errno = error;
        return true;
    }

    std::atomic<int> fail_at_[kinds] = {-1, -1, -1, -1, -1};
    std::atomic<bool> forever_ = false;
};

} // namespace cd
