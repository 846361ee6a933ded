// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "os/system.h"

#include "os/printable.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cd::os {
namespace {

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

} // namespace

pid_t System::process() { return ::getpid(); }

uid_t System::user() { return ::geteuid(); }

int System::random(void *to, size_t length) { return ::getentropy(to, length); }

// As one call where it is not too long, since other ranks write to the same terminal.
void System::warn(const char *line) {
    std::array<char, 4096> text = {};
    size_t used = 0;
    const auto write_out = [&] {
        std::fwrite(text.data(), 1, used, stderr);
        used = 0;
    };
    const auto append = [&](std::string_view part) {
        if (part.size() > text.size() - used) {
            write_out();
        }
        std::memcpy(text.data() + used, part.data(), part.size());
        used += part.size();
    };
    append("containment-domains: ");
    for_each_printable(line, append);
    append("\n");
    write_out();
}

bool System::can_order_other_threads() {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void System::order_other_threads() {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        membarrier(MEMBARRIER_CMD_GLOBAL); // slower, and needs no registration
    }
}

int System::start_thread(pthread_t &thread, void *(*work)(void *), void *context) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = ::pthread_create(&thread, nullptr, work, context);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

void System::join_thread(pthread_t thread) { ::pthread_join(thread, nullptr); }

int System::at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
    return ::pthread_atfork(before, in_parent, in_child);
}

int System::create_thread_key(pthread_key_t &key, void (*at_end_of_thread)(void *)) {
    return ::pthread_key_create(&key, at_end_of_thread);
}

void System::delete_thread_key(pthread_key_t key) { ::pthread_key_delete(key); }

int System::set_for_thread(pthread_key_t key, const void *value) {
    return ::pthread_setspecific(key, value);
}

int System::working_directory(std::string &path) {
    path.resize(PATH_MAX);
    if (::getcwd(path.data(), path.size()) == nullptr) {
        return -1;
    }
    path.resize(std::strlen(path.c_str()));
    return 0;
}

int System::real_path(const char *path, std::string &real) {
    real.resize(PATH_MAX);
    if (::realpath(path, real.data()) == nullptr) {
        return -1;
    }
    real.resize(std::strlen(real.c_str()));
    return 0;
}

int System::host_name(std::string &name) {
    char text[HOST_NAME_MAX + 1] = "";
    if (::gethostname(text, sizeof text - 1) != 0) {
        return -1;
    }
    name = text;
    return 0;
}

const char *System::environment(const char *name) { return std::getenv(name); }

uint64_t System::monotonic_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace cd::os
