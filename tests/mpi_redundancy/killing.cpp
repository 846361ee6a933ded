// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "killing.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

int step_to_die_at = -1;
int calls_to_live_from_step = 0;
std::string call_to_die_in;
std::atomic<int> calls_left = 0; // none, as long as calls do not count

// With a node that is to be lost, whoever loses it kills.
[[noreturn]] void die() {
    if (const char *lost = std::getenv("LOST")) {
        const std::string being_written = std::string(lost) + ".new";
        std::ofstream(being_written) << getpid() << '\n';
        std::rename(being_written.c_str(), lost);
        for (;;) {
            pause();
        }
    }
    kill(getpid(), SIGKILL);
    std::abort();
}

void die_in(const char *call, const char *path) {
    if (calls_left > 0 && call_to_die_in == call && std::strstr(path, ".points") != nullptr &&
        --calls_left == 0) {
        die();
    }
}

std::string path_of(int fd) {
    char path[4096] = "";
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = readlink(link.c_str(), path, sizeof path - 1);
    return {path, static_cast<size_t>(length > 0 ? length : 0)};
}

template <typename Function> Function *real(Function *, const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

void prepare_to_die(int rank) {
    const char *wish = std::getenv("DIE");
    int who = -1;
    int count = 0;
    char call[20] = "";
    if (wish == nullptr || std::sscanf(wish, "%d:", &who) != 1 || who != rank) {
        return;
    }
    if (std::sscanf(wish, "%*d:%19[a-z]:%d", call, &count) == 2) {
        calls_left = count;
        call_to_die_in = call;
    } else if (std::sscanf(wish, "%*d:%d:%19[a-z]:%d", &step_to_die_at, call, &count) == 3) {
        calls_to_live_from_step = count;
        call_to_die_in = call;
    }
}

void die_if_due(int step) {
    if (step == step_to_die_at && call_to_die_in.empty()) {
        die();
    }
    if (step == step_to_die_at) {
        calls_left = calls_to_live_from_step;
    }
}

// What the program exports comes before the C library's: libcd's calls come here.
extern "C" {

__attribute__((visibility("default"))) int renameat(int from_directory, const char *from,
                                                    int to_directory, const char *to) {
    die_in("renameat", (path_of(from_directory) + "/" + from).c_str());
    return real(renameat, "renameat")(from_directory, from, to_directory, to);
}

__attribute__((visibility("default"))) int unlinkat(int directory, const char *path, int flags) {
    die_in("unlinkat", (path_of(directory) + "/" + path).c_str());
    return real(unlinkat, "unlinkat")(directory, path, flags);
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *from, size_t length,
                                                      off_t offset) {
    die_in("pwrite", path_of(fd).c_str());
    return real(pwrite, "pwrite")(fd, from, length, offset);
}

__attribute__((visibility("default"))) int fsync(int fd) {
    die_in("fsync", path_of(fd).c_str());
    return real(fsync, "fsync")(fd);
}
}
