// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "call/replay_range.h"
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

// A receive that began while no domain logged.
struct PlainReceive {
    MPI_Request handle = MPI_REQUEST_NULL;
    Block to;
    MPI_Comm comm = MPI_COMM_NULL;
    int peer = 0;
    int tag = 0;
    uint64_t thread = 0; // that started it
    uint64_t order = 0;  // later starts have greater numbers
};

// Some of those of which nobody has wanted to know anything yet. Most of a program without domains
// end like that, so that they are only noted, where their handles lead at once. Not locked.
class PlainReceives {
public:
    // False if there is no room for it. One that had the handle before is gone.
    bool add(const PlainReceive &receive) {
        PlainReceive *place = find(receive.handle);
        if (place == nullptr) {
            place = find_free(home_of(receive.handle));
            if (place == nullptr) {
                return false;
            }
            ++count_;
        }
        *place = receive;
        return true;
    }

    // nullptr if there is none. Stays where it is until it is removed.
    PlainReceive *find(MPI_Request handle) {
        const size_t home = home_of(handle);
        for (size_t i = home; i < home + neighbours; ++i) {
            if (places_[i].handle == handle && handle != MPI_REQUEST_NULL) {
                return &places_[i];
            }
        }
        return nullptr;
    }

    void remove(PlainReceive &receive) {
        receive.handle = MPI_REQUEST_NULL;
        --count_;
    }

    size_t count() const { return count_; }

    // Calls take for each, and has none of them then.
    template <typename Take> void give(const Take &take) {
        for (PlainReceive &place : places_) {
            if (count_ == 0) {
                return;
            }
            if (place.handle != MPI_REQUEST_NULL) {
                const PlainReceive receive = place;
                remove(place);
                take(receive);
            }
        }
    }

private:
    static constexpr unsigned home_bits = 10;
    static constexpr size_t homes = size_t{1} << home_bits;
    static constexpr size_t neighbours = 4; // of a home, where its receives may be

    static size_t home_of(MPI_Request handle) {
        return word_of(handle) * 0x9E3779B97F4A7C15U >> (64 - home_bits);
    }
    PlainReceive *find_free(size_t home) {
        for (size_t i = home; i < home + neighbours; ++i) {
            if (places_[i].handle == MPI_REQUEST_NULL) {
                return &places_[i];
            }
        }
        return nullptr;
    }

    std::array<PlainReceive, homes + neighbours - 1> places_;
    size_t count_ = 0;
};

// All requests of the process that are tracked: those that bring data, whether a CD logs or not,
// since they may complete when one does; and while a CD logs, all others.
//
// Thread-safe. A request belongs to the thread that uses it, as MPI demands; only restores look at
// all of them.
class RequestTable {
public:
    static RequestTable &instance();

    // The calling thread is the only one that will call MPI; others may still restore CDs.
    void used_by_this_thread() { mutex_.own(); }

    static bool empty() { return size_.load(std::memory_order_relaxed) == 0; }

    // So that one more can be added, and as many started, without taking memory.
    void reserve_room(size_t starts = 1);

    // A new one under its handle. One that had the handle before is gone, unnoticed, or just ending
    // in another thread.
    Request &add(MPI_Request handle, Purpose &&purpose);

    // add() and started() at once; and what MPI works on.
    Request &add_started(MPI_Request handle, const cd_log_place &place, Purpose &&purpose,
                         Staging &&staging);

    // The same for what only sends one block, or receives one: to.
    struct Message {
        Request::Kind kind = Request::Kind::send;
        const Block *to = nullptr;
        MPI_Comm comm = MPI_COMM_NULL;
        int peer = 0;
        int tag = 0;
    };
    uint64_t add_started(MPI_Request handle, const cd_log_place &place, const Message &message,
                         SendCopy &&shadow);

    // A receive that no log knows.
    void add(MPI_Request handle, const Block &to, MPI_Comm comm, int peer, int tag);

    // A few requests that MPI is about to be asked to end.
    struct Few {
        static constexpr int most = 16;
        int count = 0;
        MPI_Request handles[most];
        PlainReceive *receives[most]; // nullptr if not tracked
    };
    // False if something else has to be done for one of them than to forget it when it has ended,
    // or another thread may be given its handle.
    bool find_plain(const MPI_Request *handles, int count, Few &few);
    // MPI has been asked, and these are the handles now.
    void forget_ended(const Few &few, const MPI_Request *handles);

    // Changes the request where another thread's keep_type() may look at it.
    template <typename Change> void change(Request &request, const Change &make) {
        const std::scoped_lock lock(mutex_);
        make(request);
    }

    // As long as the result is locked, keep_type() waits, and what describes the data of this
    // thread's requests can be used. Nothing else of the table may be called meanwhile.
    std::unique_lock<BiasedLock> hold_types() { return std::unique_lock(mutex_); }

    // nullptr if it is not tracked.
    Request *find(MPI_Request handle);

    // The same for each of several, which MPI is about to be asked to end: whichever it ends lose
    // their handles to other threads at once. Those that go on are to be given back, where the rest
    // are nullptr.
    void find_ending(const MPI_Request *handles, int count, std::vector<Request *> &found);
    void give_back(const std::vector<Request *> &going_on);

    // The one whose start has this number in the log.
    Request *find(uint64_t id);

    // This thread starts it, and the start stands in a log at place, with a number under which the
    // request is found until it ends: a new one, which is returned, or the one that the log has.
    uint64_t started(Request &request, const cd_log_place &place);
    void started(Request &request, uint64_t id, const cd_log_place &place);

    // The same, and no log knows of the start.
    void started(Request &request);

    // A persistent one: it is inactive, and not found under its number any more.
    void ended(Request &request);

    // The program will know it by another handle, or by none.
    void rename(Request &request, MPI_Request handle);

    void remove(Request &request);

    // The program says that a generalized request is complete. False if MPI knows that already: an
    // execution has said so that a restore has taken back.
    bool completes_first(MPI_Request handle);

    // The program is about to free a type: those whose data it describes get a copy of it.
    void keep_type(MPI_Datatype type);

    // Whether one was made on the communicator that would have to be made on it once more.
    bool uses(MPI_Comm comm);

    // MPI is about to forget a communicator: nothing can be made on it once more.
    void comm_is_gone(MPI_Comm comm);

    // All of them, in the order of their starts.
    std::vector<Request *> all();

    // Those of this thread that read other ranks' windows through this one, and have not brought
    // their data yet. Another thread's may just be ending in it, and bring them then.
    std::vector<Request *> reads_of(MPI_Win window);

    // Those that this thread has started; and those that a restore of cd in this thread concerns:
    // the same, and those that the re-execution will start. The others may change at any moment, as
    // other threads like.
    std::vector<Request *> of_this_thread();
    std::vector<Request *> concerned(const Reach &reach);

    // Those that the re-execution will free are not freed yet, whichever thread has done it.
    void take_back_frees(const Reach &reach);

    // Stand-ins and requests made anew; while there are none, handles are MPI's own.
    std::atomic<int> stand_ins = 0;

private:
    template <typename Wanted> std::vector<Request *> those(const Wanted &wanted);
    // With the mutex held.
    Request &add(MPI_Request handle, Purpose &&purpose, std::unique_lock<BiasedLock> &lock);
    void forget_stale(MPI_Request handle, std::unique_lock<BiasedLock> &lock);
    Request *named(MPI_Request handle) const;
    Request *own(MPI_Request handle) const;
    void add_one_of_many(MPI_Request handle, const Message &message);
    void adopt_plain();
    void count_all() { size_.store(tracked_.size() + plain_.count(), std::memory_order_relaxed); }
    void set_name(Request &request, MPI_Request handle);
    void give_copies(MPI_Datatype type, std::vector<MPI_Datatype> &copies);
    void set_number(Request &request, uint64_t id);
    void start(Request &request, uint64_t id, const cd_log_place &place);
    Request &take_seat(MPI_Request handle, std::unique_lock<BiasedLock> &lock);
    Request &sit_down(MPI_Request handle);
    Request &add(MPI_Request handle, const Message &message, std::unique_lock<BiasedLock> &lock);
    void leave_seat(Request &request);

    BiasedLock mutex_;
    std::deque<Request> all_; // also those that are not in use
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
