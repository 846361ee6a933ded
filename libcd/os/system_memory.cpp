// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/system.h"

#include "os/memory_sizes.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <cerrno>

namespace cd::os {
namespace {

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

void *System::map_file(int fd, size_t size) {
    struct statfs where = {};
    if (::fstatfs(fd, &where) != 0 || where.f_type != TMPFS_MAGIC) {
        return nullptr;
    }
    void *at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    ::madvise(at, size, MADV_DONTDUMP); // the file has it
    ::madvise(at, size, MADV_DONTFORK); // a forked process would keep the file's locks by it
    return at;
}

void System::unmap_file(void *at, size_t size) { ::munmap(at, size); }

} // namespace cd::os
