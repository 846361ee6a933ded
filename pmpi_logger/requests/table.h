// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "requests/request.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cd::logger {

// All requests of the process that are tracked: those that bring data, whether a CD logs or not,
// since they may complete when one does; and while a CD logs, all others.
//
// Thread-safe. A request belongs to the thread that uses it, as MPI demands; only restores look at
// all of them.
class RequestTable {
public:
    static RequestTable &instance();

    bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

    // A new one under its handle. One that had the handle before is gone, unnoticed.
    Request &add(MPI_Request handle);

    // nullptr if it is not tracked.
    Request *find(MPI_Request handle);

    // The one whose start has this number in the log.
    Request *find(uint64_t id);

    // This thread starts it, and the start stands in a log at place, with a number under which the
    // request is found until it ends.
    void started(Request &request, uint64_t id, const cd_log_place &place);

    // The same, and no log knows of the start.
    void started(Request &request);

    // It is not found under its number any more.
    void ended(Request &request);
    uint64_t next_number() { return ++numbers_; }

    // The program will know it by another handle, or by none.
    void rename(Request &request, MPI_Request handle);

    void remove(Request &request);

    // The program is about to free a type: those whose data it describes get a copy of it.
    void keep_type(MPI_Datatype type);

    // All of them, in the order of their starts.
    std::vector<Request *> all();

    // Those that a restore of cd in this thread concerns: this thread's, and those that the
    // re-execution will start. The others may change at any moment, as other threads like.
    std::vector<Request *> concerned(cd_handle cd);

    static bool is_of_this_thread(const Request &request);

    // Stand-ins and requests made anew; while there are none, handles are MPI's own.
    std::atomic<int> stand_ins = 0;

private:
    using Key = uint64_t;
    static Key key_of(MPI_Request handle);
    template <typename Wanted> std::vector<Request *> those(const Wanted &wanted);
    void set_number(Request &request, uint64_t id);

    std::mutex mutex_;
    std::unordered_map<Key, std::unique_ptr<Request>> named_;
    std::vector<std::unique_ptr<Request>> nameless_;
    std::unordered_map<uint64_t, Request *> numbered_;
    std::vector<std::unique_ptr<Request>> spare_;
    std::atomic<uint64_t> numbers_ = 0;
    uint64_t starts_ = 0;
    std::atomic<size_t> size_ = 0;
};

} // namespace cd::logger
