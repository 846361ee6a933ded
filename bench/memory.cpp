// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains.h"

#include <sys/mman.h>

#include <cstring>

Memory::Memory(size_t size) : size_(size) {
    void *at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        std::perror("cd_bench: mmap");
        std::exit(EXIT_FAILURE);
    }
    ::madvise(at, size, MADV_HUGEPAGE);
    data_ = static_cast<std::byte *>(at);
    std::memset(data_, 1, size);
}

Memory::~Memory() { ::munmap(data_, size_); }
