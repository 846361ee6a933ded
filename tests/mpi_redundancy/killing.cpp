// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "killing.h"

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr off_t beginning = 64 << 10; // of a file that is coded; its header is shorter

int step_to_die_at = -1;
int calls_to_live_from_step = 0;
std::string call_to_die_in;
std::atomic<int> calls_left = 0; // none, as long as calls do not count
std::string what_to_hold;
std::atomic<bool> holds = false;
std::atomic<pid_t> thread_that_finalizes = 0; // none yet
std::atomic<bool> mpi_ends = false;
int own_rank = 0;
int ranks_to_meet = 0;
std::string meeting;

// With a node that is to be lost, whoever loses it kills, and is told where this process is.
[[noreturn]] void die(const std::string &where) {
    if (const char *lost = std::getenv("LOST")) {
        const std::string being_written = std::string(lost) + ".new";
        std::ofstream(being_written) << getpid() << '\n' << where << '\n';
        std::rename(being_written.c_str(), lost);
        for (;;) {
            pause();
        }
    }
    kill(getpid(), SIGKILL);
    std::abort();
}

void die_in(const char *call, const std::string &path, off_t offset = 0) {
    if (calls_left > 0 && call_to_die_in == call && path.find(".points") != std::string::npos &&
        --calls_left == 0) {
        die(path + ' ' + std::to_string(offset));
    }
}

bool is_draft(const std::string &path) {
    return path.find(".points") != std::string::npos &&
           path.find("/.cd-draft.") != std::string::npos;
}

bool sleeps(pid_t thread) {
    std::ifstream file("/proc/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t end_of_name = line.rfind(") ");
    return end_of_name != std::string::npos && line.compare(end_of_name + 2, 1, "S") == 0;
}

std::string place_of(int rank) { return meeting + "/" + std::to_string(rank); }

pid_t thread_of(int rank) {
    pid_t thread = 0;
    std::ifstream(place_of(rank)) >> thread;
    return thread;
}

// Whether whoever is to be in MPI_Finalize is there, and waits.
bool all_wait() {
    if (meeting.empty()) {
        return thread_that_finalizes != 0 && sleeps(thread_that_finalizes);
    }
    for (int rank = 0; rank < ranks_to_meet; ++rank) {
        if (const pid_t thread = thread_of(rank); thread == 0 || !sleeps(thread)) {
            return false;
        }
    }
    return true;
}

// Whoever sleeps for other reasons does not do so for long.
void wait_until_all_wait() {
    constexpr int times = 5;
    for (int seen = 0; seen < times; seen = all_wait() ? seen + 1 : 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int note_that_mpi_ends(MPI_Comm, int, void *, void *) {
    mpi_ends = true;
    return MPI_SUCCESS;
}

// Whether this has waited, until MPI_Finalize waits for the calling thread.
bool hold(const std::string &path) {
    if (!is_draft(path) || path.find(what_to_hold) == std::string::npos || !holds.exchange(false)) {
        return false;
    }
    wait_until_all_wait();
    // One write: MPICH has left stdout without a buffer, and the line's end would come after what
    // another rank says.
    const std::string_view line = mpi_ends ? "is under way in MPI_Finalize, when MPI ends\n"
                                           : "is under way in MPI_Finalize, before MPI ends\n";
    (void)std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
    return true;
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

void prepare_to_die(int rank, int ranks) {
    own_rank = rank;
    ranks_to_meet = ranks;
    if (const char *place = std::getenv("MEETING")) {
        meeting = place;
    }
    if (const char *held = std::getenv("HOLD")) {
        const char *holding = std::getenv("HOLDING");
        what_to_hold = held;
        holds = holding == nullptr || std::atoi(holding) == rank;
    }
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
        die("step " + std::to_string(step));
    }
    if (step == step_to_die_at) {
        calls_left = calls_to_live_from_step;
    }
}

// MPI begins with ending what is attached to MPI_COMM_SELF, the last first.
void calls_finalize() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_that_mpi_ends, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    thread_that_finalizes = gettid();
    if (!meeting.empty()) {
        const std::string being_written = place_of(own_rank) + ".new";
        std::ofstream(being_written) << gettid() << '\n';
        std::rename(being_written.c_str(), place_of(own_rank).c_str());
    }
}

// What the program exports comes before the C library's: libcd's calls come here.
extern "C" {

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *from, size_t length,
                                                      off_t offset) {
    const std::string path = path_of(fd);
    if (hold(path)) {
        die_in("held", path, offset);
    }
    die_in("pwrite", path, offset);
    if (is_draft(path) && offset >= beginning) {
        die_in("code", path, offset);
    }
    return real(pwrite, "pwrite")(fd, from, length, offset);
}
}
