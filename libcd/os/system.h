// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cd::os {

// Which file a descriptor names.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FileIdentity &) const = default;
};

// Every call to the operating system goes through here, so that a test can make each one fail.
// Functions that return int or off_t follow the system's convention: -1 and errno.
class System {
public:
    virtual ~System() = default;

    // Page-aligned memory with its pages present, or nullptr.
    virtual void *map_pages(size_t size);
    virtual void unmap_pages(void *at, size_t size);

    virtual off_t seek(int fd, off_t offset, int whence);
    virtual int identify(int fd, FileIdentity &identity);

    virtual const char *environment(const char *name);
    virtual uint64_t monotonic_ns();
};

System &system();

// For tests: calls go to replacement until it is set back to nullptr. The caller keeps it alive and
// makes sure that no other thread is inside the library.
void replace_system(System *replacement);

} // namespace cd::os
