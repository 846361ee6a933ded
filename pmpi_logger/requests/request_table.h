// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/replay_range.h"
#include "call/typed_block.h"
#include "log_entry/decode.h"
#include "mpi_log/biased_lock.h"
#include "requests/request.h"
#include "requests/request_map.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mpi.h>
#include <mutex>
#include <vector>

namespace cd::logger {

// The data of a request, if they are one block.
struct Message {
    Request::Kind kind = Request::Kind::send;
    Block to; // of a receive
    MPI_Comm comm = MPI_COMM_NULL;
    int peer = 0;
    int tag = 0;
};

// A receive that began while no CD logged.
struct PlainReceive {
    MPI_Request handle = MPI_REQUEST_NULL;
    Message message;
    uint64_t thread = 0; // that started it
    uint64_t order = 0;  // later starts have greater numbers
};

// Keeps receives in a small table by handle, until more has to be known of them. In a program
// without CDs most end there. Not locked.
class PlainReceives {
public:
    // Returns false if another one has the place. Replaces a receive that had the handle before.
    bool add(const PlainReceive &receive) {
        PlainReceive &place = place_of(receive.handle);
        if (place.handle == MPI_REQUEST_NULL) {
            ++count_;
        } else if (place.handle != receive.handle) {
            return false;
        }
        place = receive;
        return true;
    }

    // Returns nullptr if there is none. The result is valid until the receive is removed.
    PlainReceive *find(MPI_Request handle) {
        PlainReceive &place = place_of(handle);
        return place.handle == handle && handle != MPI_REQUEST_NULL ? &place : nullptr;
    }

    void remove(PlainReceive &receive) {
        receive.handle = MPI_REQUEST_NULL;
        --count_;
    }

    size_t count() const { return count_; }

    // Removes all and calls `take` for each.
    template <typename Take> void give(const Take &take) {
        for (size_t i = 0; count_ > 0; ++i) {
            if (places_[i].handle != MPI_REQUEST_NULL) {
                const PlainReceive receive = places_[i];
                remove(places_[i]);
                take(receive);
            }
        }
    }

private:
    static constexpr unsigned bits = 10;

    PlainReceive &place_of(MPI_Request handle) {
        return places_[word_of(handle) * 0x9E3779B97F4A7C15U >> (64 - bits)];
    }

    std::array<PlainReceive, size_t{1} << bits> places_;
    size_t count_ = 0;
};

// Holds all tracked requests of the process. Requests that bring data are tracked even if no CD
// logs, since one may log when they complete; all others while a CD logs.
//
// Thread-safe. A request belongs to the thread that uses it, as MPI demands. Only restores look at
// all of them.
class RequestTable {
public:
    static RequestTable &instance();

    // Says that only the calling thread will call MPI. Others may still restore CDs.
    void used_by_this_thread() { mutex_.own(); }

    static bool empty() { return size_.load(std::memory_order_relaxed) == 0; }

    // Adds a request under its handle. One that had the handle before is gone, or just ending in
    // another thread.
    Request &add(MPI_Request handle, Purpose &&purpose);

    // Calls add() and started() at once, and keeps the staging.
    Request &add_started(MPI_Request handle, const cd_log_place &place, Purpose &&purpose,
                         Staging &&staging);

    // Does the same for a message, and returns the number of the start.
    uint64_t add_started(MPI_Request handle, const cd_log_place &place, const Message &message,
                         SendCopy &&send_copy);

    // Adds a receive that no log has.
    void add(MPI_Request handle, const Message &receive);

    // A few requests of a Wait or Test call.
    struct Few {
        static constexpr int most = 16;
        int count = 0;
        MPI_Request handles[most];
        PlainReceive *receives[most]; // nullptr if not tracked
    };
    // Returns false if one of them needs more than to be forgotten at its end, or if another thread
    // may get its handle.
    bool find_plain(const MPI_Request *handles, int count, Few &few);
    // Must be called after MPI, with the handles that it left.
    void forget_ended(const Few &few, const MPI_Request *handles);

    // Changes a request that another thread's keep_type() may look at.
    template <typename Change> void change(Request &request, const Change &make) {
        const std::scoped_lock lock(mutex_);
        make(request);
    }

    // Locks the datatypes of this thread's requests against keep_type(). Nothing else of the table
    // may be called while the result is locked.
    std::unique_lock<BiasedLock> hold_types() { return std::unique_lock(mutex_); }

    // Returns nullptr if it is not tracked.
    Request *find(MPI_Request handle);

    // Finds several requests before MPI is asked to end them. Other threads may get the handles of
    // ended ones at once. Pass the others to give_back(), with nullptr in place of ended ones.
    void find_ending(const MPI_Request *handles, int count, std::vector<Request *> &found);
    void give_back(const std::vector<Request *> &going_on);

    // Returns the request whose start has this number in the log.
    Request *find(uint64_t id);

    // Notes that this thread starts it, and that a log has the start at `place`. The request is
    // found by a number until it ends: by a new one, which is returned, or by `id` of the log.
    uint64_t started(Request &request, const cd_log_place &place);
    // `id`: 0 if no log has the start.
    void started(Request &request, uint64_t id, const cd_log_place &place);

    // Makes a persistent request inactive. It is not found by its number any more.
    void ended(Request &request);

    // Gives it another handle, or none.
    void rename(Request &request, MPI_Request handle);

    void remove(Request &request);

    // Must be called before a type is freed. Requests whose data it describes share a copy of it.
    void keep_type(MPI_Datatype type);

    // Must be called before MPI frees a communicator. Nothing can be made on it again.
    void forget_comm(MPI_Comm comm);

    // Returns all of them, in the order of their starts.
    std::vector<Request *> all();

    // Returns this thread's reads through the window that have not brought their data yet. Those of
    // another thread may just be ending in it.
    std::vector<Request *> reads_of(MPI_Win window);

    // Return the requests that this thread has started, and the requests that a restore in this
    // thread concerns: also all that the re-execution will start. Other threads may change the rest
    // at any moment.
    std::vector<Request *> of_this_thread();
    std::vector<Request *> concerned(const ReplayRange &range);

    // Counts stand-ins and requests made anew. While it is 0, handles are MPI's own.
    std::atomic<int> stand_ins = 0;

private:
    template <typename Wanted> std::vector<Request *> those(const Wanted &wanted);
    // With the mutex held.
    void forget_stale(MPI_Request handle, std::unique_lock<BiasedLock> &lock);
    Request *named(MPI_Request handle) const;
    Request *own(MPI_Request handle) const;
    void adopt_plain();
    void count_all() { size_.store(tracked_.size() + plain_.count(), std::memory_order_relaxed); }
    void set_name(Request &request, MPI_Request handle);
    void set_number(Request &request, uint64_t id);
    void start(Request &request, uint64_t id, const cd_log_place &place);
    Request &track(MPI_Request handle, std::unique_lock<BiasedLock> &lock);
    Request &track_unused_handle(MPI_Request handle);
    static void describe(Request &request, const Message &message);
    void untrack(Request &request);

    BiasedLock mutex_;
    std::deque<Request> all_; // also unused ones
    std::vector<Request *> spare_;
    std::vector<Request *> tracked_;
    PlainReceives plain_; // which nothing below knows
    RequestMap named_;
    RequestMap numbered_;
    uint64_t numbers_ = 0;
    uint64_t starts_ = 0;
    static inline std::atomic<size_t> size_ = 0;
};

} // namespace cd::logger
