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
};

// Those that had the handle, in the order in which a replay comes to them: the first is meant.
struct OfOneHandle {
    std::deque<Closed> in_turn;
    uint64_t opened = 0; // the latest of a replay have the greatest
};

std::unordered_map<MPI_File, OfOneHandle> &files() {
    static auto &all = *new std::unordered_map<MPI_File, OfOneHandle>;
    return all;
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
    const Closed closed = {count(), number, handler};
    when_restored(place, [=] { put_back(file, closed); });
    when_forgotten(place, [file, id = closed.id] { forget(file, id); });
}

bool ClosedFiles::has(MPI_File file) {
    if (!some) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    return files().count(file) > 0;
}

MPI_Fint ClosedFiles::number_of(MPI_File file) {
    const std::scoped_lock lock(mutex);
    const auto found = files().find(file);
    return found != files().end() ? found->second.in_turn.front().number : 0;
}

MPI_Errhandler ClosedFiles::handler_of(MPI_File file) {
    const std::scoped_lock lock(mutex);
    const auto found = files().find(file);
    return found != files().end() ? found->second.in_turn.front().handler : MPI_ERRHANDLER_NULL;
}

void ClosedFiles::set_handler(MPI_File file, MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex);
    const auto found = files().find(file);
    if (found != files().end()) {
        found->second.in_turn.front().handler = handler;
    }
}

MPI_File ClosedFiles::find(MPI_Fint number) {
    if (!some) {
        return MPI_FILE_NULL;
    }
    const std::scoped_lock lock(mutex);
    MPI_File latest = MPI_FILE_NULL;
    uint64_t opened = 0;
    for (const auto &[file, those] : files()) {
        if (those.in_turn.front().number == number &&
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
    if (has(file)) {
        uint64_t first = 0;
        {
            const std::scoped_lock lock(mutex);
            first = files()[file].in_turn.front().id;
        }
        forget(file, first);
    }
}

} // namespace cd::logger
