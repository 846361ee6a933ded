// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/system.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace cd::os {
namespace {

constexpr size_t huge_page = size_t{2} << 20;

std::byte *align_up(std::byte *at, size_t alignment) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return at + (alignment - address % alignment) % alignment;
}

// Maps size bytes that start on a huge page, so that the kernel can back them with huge ones.
void *map_on_huge_page(size_t size) {
    const size_t mapped = size + huge_page;
    void *raw = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) {
        return nullptr;
    }
    auto *first = static_cast<std::byte *>(raw);
    auto *start = align_up(first, huge_page);
    const auto before = static_cast<size_t>(start - first);
    if (before > 0) {
        ::munmap(first, before);
    }
    if (mapped - before > size) {
        ::munmap(start + size, mapped - before - size);
    }
    ::madvise(start, size, MADV_HUGEPAGE);
    return start;
}

// Touching pages one by one costs a fault each; the kernel does it in one go. A kernel that does
// not know the request leaves the pages to be touched later, which is only slower.
bool make_present(void *at, size_t size) {
#ifdef MADV_POPULATE_WRITE
    return ::madvise(at, size, MADV_POPULATE_WRITE) == 0 || errno == EINVAL || errno == ENOSYS;
#else
    (void)at;
    (void)size;
    return true;
#endif
}

System real_system;
System *current_system = &real_system;

} // namespace

void *System::map_pages(size_t size) {
    void *at = nullptr;
    if (size >= huge_page) {
        at = map_on_huge_page(size);
    } else {
        at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        at = at == MAP_FAILED ? nullptr : at;
    }
    if (at != nullptr && !make_present(at, size)) {
        ::munmap(at, size);
        return nullptr;
    }
    return at;
}

void System::unmap_pages(void *at, size_t size) { ::munmap(at, size); }

off_t System::seek(int fd, off_t offset, int whence) { return ::lseek(fd, offset, whence); }

int System::identify(int fd, FileIdentity &identity) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) {
        return -1;
    }
    identity = {status.st_dev, status.st_ino};
    return 0;
}

const char *System::environment(const char *name) { return std::getenv(name); }

uint64_t System::monotonic_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

System &system() { return *current_system; }

void replace_system(System *replacement) {
    current_system = replacement != nullptr ? replacement : &real_system;
}

} // namespace cd::os
