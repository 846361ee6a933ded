// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "record_all/record_all.h"

#include "mpi/mpi_lifetime.h"
#include "mpi/real.h"
#include "mpi/record_failure.h"
#include "mpi/reentry_guard.h"
#include "record_all/log_file.h"
#include "settings/settings.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace cd::logger {

// The recording of one thread.
struct Recording {
    cd_handle cd = nullptr;
    uint64_t family = 0;
    LogFile file;
};

namespace {

constexpr size_t usual_limit = size_t{64} << 20;

enum class State { before_mpi, on, over };
std::atomic<State> state = State::before_mpi;
pid_t process = 0;
size_t limit = usual_limit;

struct Recordings {
    // Not held during calls of the library: its observer may wait for another thread's first call
    // of MPI.
    std::mutex mutex;
    std::vector<std::unique_ptr<Recording>> all;
    unsigned begun = 0;
};

// Never destroyed: threads may go on while the process ends.
Recordings &recordings() {
    static auto &one = *new Recordings;
    return one;
}

// A program may end without MPI_Finalize.
[[gnu::destructor]] void flush_at_exit() {
    if (state == State::on) {
        RecordAll::flush(true);
    }
}

bool is_wanted() {
    static const bool wanted = choice_in("CD_LOG", {"cd", "all"}).value_or(0) == 1;
    return wanted;
}

// Returns the number of a thread, which names its CD and its file.
unsigned take_number() {
    const std::scoped_lock lock(recordings().mutex);
    return ++recordings().begun;
}

void open_file(LogFile &file, unsigned number) {
    const char *directory = std::getenv("CD_LOG_FILE");
    if (directory == nullptr) {
        return;
    }
    const int rank = MpiLifetime::rank();
    const std::string of_thread = number > 1 ? ".thread-" + std::to_string(number) : "";
    file.open(directory, "rank-" + std::to_string(rank) + of_thread, rank);
}

} // namespace

// Ends the CD of a thread that ends before the program.
struct RecordAll::EndOfThread {
    ~EndOfThread() {
        if (own_ != nullptr && getpid() == process) {
            end_here();
        }
    }
};

bool RecordAll::is_active() {
    cd_log_place place = {};
    return cd_log_here(&place) != 0 && place.family == own_->family;
}

bool RecordAll::holds(const cd_log_place &place) {
    const std::scoped_lock lock(recordings().mutex);
    return std::ranges::any_of(recordings().all,
                               [&](const auto &one) { return one->family == place.family; });
}

void RecordAll::begin() {
    if (is_wanted()) {
        limit = size_in("CD_LOG_LIMIT", usual_limit);
        process = getpid();
        begin_here(); // before any other thread, which would get the first file
        RecordFailure::count_missing_by([] {
            const bool counts = records();
            if (counts) {
                own_->file.miss();
            }
            return counts;
        });
        state = State::on;
    }
}

bool RecordAll::begin_thread() {
    if (!is_wanted() || own_ != nullptr || state == State::over) {
        return true;
    }
    return state == State::on && !ReentryGuard::mpi() && begin_here();
}

// Returns false in a thread that has a CD of its own or is in a callback of the library: it is
// recorded later.
bool RecordAll::begin_here() {
    if (*cd_log_possible() != 0) {
        return false;
    }
    if (getpid() != process) {
        return true; // a child, which writes nothing
    }
    const ReentryGuard inside;
    auto recording = std::make_unique<Recording>();
    const unsigned number = take_number();
    const std::string name = "cd_log_all" + (number > 1 ? "." + std::to_string(number) : "");
    int error = 0;
    recording->cd = cd_log_create_root(name.c_str(), &error);
    if (recording->cd == nullptr && error == CD_ERROR_IN_CALLBACK) {
        return false; // in a callback of the library
    }
    cd_log_place place = {};
    if (recording->cd == nullptr || cd_log_keep_newest(limit) == 0 || cd_log_here(&place) == 0) {
        std::fprintf(stderr, "pmpi_logger: CD_LOG=all records nothing of a thread: %s\n",
                     recording->cd == nullptr ? cd_last_error_message()
                                              : "its CD takes no entries");
        if (recording->cd != nullptr) {
            commit_cd(recording->cd);
        }
        return true;
    }
    recording->family = place.family;
    const std::scoped_lock lock(recordings().mutex);
    open_file(recording->file, number);
    static thread_local const EndOfThread end;
    (void)end;
    own_ = recording.get();
    recordings().all.push_back(std::move(recording));
    return true;
}

void RecordAll::end() {
    if (state.exchange(State::over) != State::on) {
        return;
    }
    flush(true);
    if (own_ != nullptr) { // the others' CDs end with their threads
        end_here();
    }
}

void RecordAll::end_here() {
    const cd_handle cd = own_->cd;
    {
        const std::scoped_lock lock(recordings().mutex);
        own_->file.close();
        std::erase_if(recordings().all, [](const auto &one) { return one.get() == own_; });
        own_ = nullptr;
    }
    commit_cd(cd);
}

void RecordAll::flush(bool waits) {
    if (getpid() != process) {
        return; // a forked child, in which nobody may be there to release the lock
    }
    std::unique_lock lock(recordings().mutex, std::try_to_lock);
    if (waits && !lock) {
        lock.lock();
    }
    if (lock) {
        for (const auto &recording : recordings().all) {
            recording->file.flush(waits);
        }
    }
}

void RecordAll::written(const void *entry, size_t length) { own_->file.append(entry, length); }

bool RecordAll::changed(const void *header, size_t size) {
    return own_->file.change_last(header, size);
}

} // namespace cd::logger
