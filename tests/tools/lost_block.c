/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the containment-domains authors
 * Preloaded: what a read takes of the byte LOST_BYTE of any file the disk has lost (LOST_ERROR). */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the C library says so */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t pread64(int fd, void *to, size_t length, off64_t offset) {
    ssize_t (*real)(int, void *, size_t, off64_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "pread64"); /* as POSIX has it */
    const off64_t lost = atoll(getenv("LOST_BYTE"));
    if (offset <= lost && lost < offset + (off64_t)length) {
        errno = atoi(getenv("LOST_ERROR"));
        return -1;
    }
    return real(fd, to, length, offset);
}

ssize_t pread(int fd, void *to, size_t length, off_t offset) {
    return pread64(fd, to, length, offset);
}
