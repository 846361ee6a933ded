// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/request_table.h"

#include "log_entry/decode.h"
#include "mpi/real.h"
#include "objects/deferred_free.h"
#include "payload/datatype_cache.h"
#include "record_all/record_all.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cd::logger {
namespace {

// Returns a number that no other thread has, not even an ended one.
uint64_t this_thread() {
    static std::atomic<uint64_t> threads = 0;
    [[gnu::tls_model("initial-exec")]] static constinit thread_local uint64_t number = 0;
    if (number == 0) {
        number = ++threads;
    }
    return number;
}

} // namespace

// A copy of a type that the program has freed. Lives until no log names it.
struct OwnType {
    explicit OwnType(MPI_Datatype of) : copy(copy_of_type(of)) {}
    OwnType(const OwnType &) = delete;
    OwnType &operator=(const OwnType &) = delete;
    ~OwnType() {
        auto free_type = [type = copy]() mutable {
            forget_type_facts(type);
            real<Fn::MPI_Type_free>(&type);
        };
        cd_log_place place = {};
        if (is_used && cd_log_here(&place) != 0 && !RecordAll::records()) {
            when_forgotten(place, free_type);
        } else {
            free_type();
        }
    }

    MPI_Datatype copy;
    bool is_used = false;
};

RequestTable &RequestTable::instance() {
    // Never destroyed: MPI may be used while the process ends.
    static auto &table = *new RequestTable;
    return table;
}

Request &RequestTable::add(MPI_Request handle, Purpose &&purpose) {
    std::unique_lock lock(mutex_);
    Request &request = track(handle, lock);
    static_cast<Purpose &>(request) = std::move(purpose);
    return request;
}

Request &RequestTable::add_started(MPI_Request handle, const cd_log_place &place, Purpose &&purpose,
                                   Staging &&staging) {
    std::unique_lock lock(mutex_);
    Request &request = track(handle, lock);
    static_cast<Purpose &>(request) = std::move(purpose);
    request.staging = std::move(staging);
    start(request, ++numbers_, place);
    return request;
}

void RequestTable::add(MPI_Request handle, const Message &receive) {
    if (mutex_.try_lock_as_owner()) {
        const bool noted = (tracked_.empty() || named(handle) == nullptr) &&
                           plain_.add({handle, receive, this_thread(), starts_ + 1});
        if (noted) {
            ++starts_;
            count_all();
        }
        mutex_.unlock();
        if (noted) {
            return;
        }
    }
    std::unique_lock lock(mutex_);
    describe(track(handle, lock), receive);
}

uint64_t RequestTable::add_started(MPI_Request handle, const cd_log_place &place,
                                   const Message &message, SendCopy &&send_copy) {
    std::unique_lock lock(mutex_);
    Request &request = track(handle, lock);
    describe(request, message);
    request.send_copy = std::move(send_copy);
    start(request, ++numbers_, place);
    return request.id;
}

void RequestTable::describe(Request &request, const Message &message) {
    request.kind = message.kind;
    if (message.kind == Request::Kind::receive) {
        request.arrivals.push_back(message.to);
    }
    request.comm = message.comm;
    request.peer = message.peer;
    request.tag = message.tag;
}

// Tracks a request whose purpose the caller sets.
Request &RequestTable::track(MPI_Request handle, std::unique_lock<BiasedLock> &lock) {
    adopt_plain();
    forget_stale(handle, lock);
    return track_unused_handle(handle);
}

// The caller holds the mutex. No other request has the handle.
Request &RequestTable::track_unused_handle(MPI_Request handle) {
    if (spare_.empty()) {
        spare_.push_back(&all_.emplace_back());
    }
    Request &request = *spare_.back();
    spare_.pop_back();
    request.index = tracked_.size();
    tracked_.push_back(&request);
    set_name(request, handle);
    request.thread = this_thread();
    request.order = ++starts_;
    count_all();
    return request;
}

// The caller holds the mutex.
void RequestTable::untrack(Request &request) {
    set_name(request, MPI_REQUEST_NULL);
    tracked_.back()->index = request.index;
    tracked_[request.index] = tracked_.back();
    tracked_.pop_back();
    count_all();
}

bool RequestTable::find_plain(const MPI_Request *handles, int count, Few &few) {
    if (count > Few::most || !mutex_.try_lock_as_owner()) {
        return false;
    }
    bool others = false;
    few.count = count;
    for (int i = 0; i < count; ++i) {
        const MPI_Request handle = handles[i];
        few.handles[i] = handle;
        few.receives[i] = plain_.find(handle);
        others |= few.receives[i] == nullptr && !tracked_.empty() && named(handle) != nullptr;
    }
    mutex_.unlock();
    return !others;
}

void RequestTable::forget_ended(const Few &few, const MPI_Request *handles) {
    std::unique_lock lock(mutex_);
    for (int i = 0; i < few.count; ++i) {
        PlainReceive *receive = few.receives[i];
        if (receive == nullptr || handles[i] == few.handles[i]) {
            continue;
        }
        if (receive->handle == few.handles[i]) [[likely]] {
            plain_.remove(*receive);
        } else if (Request *request = named(few.handles[i])) {
            lock.unlock(); // another thread has looked at it meanwhile
            remove(*request);
            lock.lock();
        }
    }
    count_all();
}

// Turns noted receives into tracked requests. The caller holds the mutex, and calls this before it
// looks at anything else of the table.
void RequestTable::adopt_plain() {
    plain_.give([this](const PlainReceive &receive) {
        Request &request = track_unused_handle(receive.handle);
        describe(request, receive.message);
        request.thread = receive.thread;
        request.order = receive.order;
    });
}

void RequestTable::forget_stale(MPI_Request handle, std::unique_lock<BiasedLock> &lock) {
    Request *stale = named(handle);
    if (stale != nullptr && stale->ending_in != 0) {
        set_name(*stale, MPI_REQUEST_NULL); // the thread that ends it knows where it is
    } else if (stale != nullptr) {
        lock.unlock();
        remove(*stale);
        lock.lock();
    }
}

Request *RequestTable::find(MPI_Request handle) {
    if (empty()) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    adopt_plain();
    return own(handle);
}

// Another thread may just be ending the request, and MPI may have reused its handle for one that is
// not tracked. A persistent request keeps its handle.
Request *RequestTable::own(MPI_Request handle) const {
    Request *request = named(handle);
    const bool has_ended = request != nullptr && !request->persistent && request->ending_in != 0 &&
                           request->ending_in != this_thread();
    return has_ended ? nullptr : request;
}

void RequestTable::find_ending(const MPI_Request *handles, int count,
                               std::vector<Request *> &found) {
    found.assign(static_cast<size_t>(count), nullptr);
    if (empty()) {
        return;
    }
    const std::scoped_lock lock(mutex_);
    adopt_plain();
    std::transform(handles, handles + count, found.begin(), [this](MPI_Request handle) {
        Request *request = own(handle);
        if (request != nullptr) {
            request->ending_in = this_thread();
        }
        return request;
    });
}

void RequestTable::give_back(const std::vector<Request *> &going_on) {
    const std::scoped_lock lock(mutex_);
    for (Request *request : going_on) {
        if (request != nullptr) {
            request->ending_in = 0;
        }
    }
}

Request *RequestTable::find(uint64_t id) {
    const std::scoped_lock lock(mutex_);
    return numbered_.find(id);
}

Request *RequestTable::named(MPI_Request handle) const {
    return handle != MPI_REQUEST_NULL ? named_.find(word_of(handle)) : nullptr;
}

void RequestTable::set_name(Request &request, MPI_Request handle) {
    if (request.handle != MPI_REQUEST_NULL) {
        named_.remove(word_of(request.handle), request);
    }
    request.handle = handle;
    if (handle != MPI_REQUEST_NULL) {
        named_.add(word_of(handle), request);
    }
}

void RequestTable::set_number(Request &request, uint64_t id) {
    if (request.id != 0) {
        numbered_.remove(request.id, request);
    }
    request.id = id;
    if (id != 0) {
        numbered_.add(id, request);
    }
}

void RequestTable::start(Request &request, uint64_t id, const cd_log_place &place) {
    set_number(request, id);
    request.place = place;
    request.reported = false;
    request.parts_delivered.clear();
    request.thread = this_thread();
    request.order = ++starts_;
}

uint64_t RequestTable::started(Request &request, const cd_log_place &place) {
    const std::scoped_lock lock(mutex_);
    start(request, ++numbers_, place);
    return request.id;
}

void RequestTable::started(Request &request, uint64_t id, const cd_log_place &place) {
    const std::scoped_lock lock(mutex_);
    start(request, id, place);
}

void RequestTable::ended(Request &request) {
    const std::scoped_lock lock(mutex_);
    set_number(request, 0);
    request.state = Request::State::inactive;
}

void RequestTable::rename(Request &request, MPI_Request handle) {
    if (handle == request.handle) {
        return;
    }
    std::unique_lock lock(mutex_);
    adopt_plain();
    forget_stale(handle, lock);
    set_name(request, handle);
}

void RequestTable::remove(Request &request) {
    if (request.stand_in != MPI_REQUEST_NULL) {
        --stand_ins;
    }
    if (request.made_anew != MPI_REQUEST_NULL) {
        --stand_ins;
    }
    std::unique_lock lock(mutex_);
    const auto types = std::move(request.own_types); // freed without the lock
    untrack(request);
    set_number(request, 0);
    request.clear();
    spare_.push_back(&request);
    lock.unlock();
}

// Copies the type without the lock, since MPI is not called under locks.
void RequestTable::keep_type(MPI_Datatype type) {
    if (empty()) {
        return;
    }
    const auto own = std::make_shared<OwnType>(type);
    const std::scoped_lock lock(mutex_);
    adopt_plain();
    for (Request *request : tracked_) {
        bool uses = false;
        for (Blocks *blocks :
             {&request->arrivals, &request->departures, &request->parts, &request->staging.landed,
              &request->staging.sources, &request->staging.places}) {
            for (Block &block : *blocks) {
                if (block.type == type) {
                    block.type = own->copy;
                    uses = true;
                }
            }
        }
        if (uses) {
            request->own_types.push_back(own);
            own->is_used = true;
        }
    }
}

void RequestTable::forget_comm(MPI_Comm comm) {
    if (empty()) {
        return;
    }
    const std::scoped_lock lock(mutex_);
    adopt_plain();
    for (Request *request : tracked_) {
        if (request->comm == comm) {
            request->comm = MPI_COMM_NULL;
        }
    }
}

template <typename Wanted> std::vector<Request *> RequestTable::those(const Wanted &wanted) {
    const std::scoped_lock lock(mutex_);
    adopt_plain();
    std::vector<Request *> requests;
    std::ranges::copy_if(tracked_, std::back_inserter(requests),
                         [&](const Request *request) { return wanted(*request); });
    std::ranges::sort(requests, {}, &Request::order);
    return requests;
}

std::vector<Request *> RequestTable::all() {
    return those([](const Request &) { return true; });
}

std::vector<Request *> RequestTable::reads_of(MPI_Win window) {
    if (empty()) {
        return {};
    }
    return those([window](const Request &request) {
        return request.thread == this_thread() && request.window == window &&
               !request.arrivals.empty();
    });
}

std::vector<Request *> RequestTable::of_this_thread() {
    return those([](const Request &request) { return request.thread == this_thread(); });
}

std::vector<Request *> RequestTable::concerned(const ReplayRange &range) {
    return those([&](const Request &request) {
        return request.thread == this_thread() ||
               (request.logged() && range.covers(request.place)) ||
               (request.freed && range.covers(request.freed_at));
    });
}

} // namespace cd::logger
