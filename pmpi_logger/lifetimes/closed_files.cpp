// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "lifetimes/closed_files.h"

#include "lifetimes/lifetimes.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

std::mutex mutex;
std::atomic<bool> some = false;

struct Closed {
    uint64_t id = 0;
    MPI_Fint number = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    cd_log_place place = {};
};

// Those that had the handle, in the order in which a replay comes to them.
struct OfOneHandle {
    std::deque<Closed> in_turn;
    uint64_t opened = 0; // the latest of a replay have the greatest
};

std::unordered_map<MPI_File, OfOneHandle> &files() {
    static auto &all = *new std::unordered_map<MPI_File, OfOneHandle>;
    return all;
}

// MPI may have given the handle to the file of a sibling in another thread, or of no CD.
bool is_meant(const Closed &closed) {
    cd_log_place here = {};
    return cd_log_here(&here) != 0 && here.family == closed.place.family &&
           (here.stream == closed.place.stream || cd_log_mode() == CD_LOG_REPLAYING);
}

// The caller holds the mutex. nullptr if this thread means none.
Closed *find_meant(OfOneHandle &those) {
    const auto meant = std::ranges::find_if(those.in_turn, is_meant);
    return meant != those.in_turn.end() ? &*meant : nullptr;
}

Closed *find_meant(MPI_File file) {
    const auto found = files().find(file);
    return found != files().end() ? find_meant(found->second) : nullptr;
}

uint64_t count() {
    static std::atomic<uint64_t> last = 0;
    return ++last;
}

void put_back(MPI_File file, const Closed &closed) {
    const std::scoped_lock lock(mutex);
    files()[file].in_turn.push_front(closed); // restores begin with the latest
    some = true;
}

void forget(MPI_File file, uint64_t id) {
    const std::scoped_lock lock(mutex);
    const auto found = files().find(file);
    if (found != files().end()) {
        std::erase_if(found->second.in_turn,
                      [id](const Closed &closed) { return closed.id == id; });
        if (found->second.in_turn.empty()) {
            files().erase(found);
            some = !files().empty();
        }
    }
}

} // namespace

void ClosedFiles::closed(MPI_File file, MPI_Fint number, MPI_Errhandler handler,
                         const cd_log_place &place) {
    const Closed closed = {count(), number, handler, place};
    when_restored(place, [=] { put_back(file, closed); });
    when_forgotten(place, [file, id = closed.id] { forget(file, id); });
}

bool ClosedFiles::has(MPI_File file) {
    if (!some) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    return find_meant(file) != nullptr;
}

MPI_Fint ClosedFiles::number_of(MPI_File file) {
    const std::scoped_lock lock(mutex);
    const Closed *closed = find_meant(file);
    return closed != nullptr ? closed->number : 0;
}

MPI_Errhandler ClosedFiles::handler_of(MPI_File file) {
    const std::scoped_lock lock(mutex);
    const Closed *closed = find_meant(file);
    return closed != nullptr ? closed->handler : MPI_ERRHANDLER_NULL;
}

void ClosedFiles::set_handler(MPI_File file, MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex);
    if (Closed *closed = find_meant(file)) {
        closed->handler = handler;
    }
}

MPI_File ClosedFiles::find(MPI_Fint number) {
    if (!some) {
        return MPI_FILE_NULL;
    }
    const std::scoped_lock lock(mutex);
    MPI_File latest = MPI_FILE_NULL;
    uint64_t opened = 0;
    for (auto &[file, those] : files()) {
        const Closed *closed = find_meant(those);
        if (closed != nullptr && closed->number == number &&
            (latest == MPI_FILE_NULL || those.opened > opened)) {
            latest = file;
            opened = those.opened;
        }
    }
    return latest;
}

void ClosedFiles::opened_again(MPI_File file) {
    const std::scoped_lock lock(mutex);
    const auto found = files().find(file);
    if (found != files().end()) {
        found->second.opened = count();
    }
}

void ClosedFiles::closed_again(MPI_File file) {
    uint64_t meant = 0;
    {
        const std::scoped_lock lock(mutex);
        const Closed *closed = find_meant(file);
        meant = closed != nullptr ? closed->id : 0;
    }
    forget(file, meant);
}

} // namespace cd::logger
