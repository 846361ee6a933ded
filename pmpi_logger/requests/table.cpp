// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/table.h"

#include "call/decode.h"
#include "interception/real.h"
#include "lifetimes/lifetimes.h"
#include "payload/type_facts.h"

#include <algorithm>
#include <utility>

namespace cd::logger {
namespace {

// Differs from that of every other thread, also ended ones.
uint64_t this_thread() {
    static std::atomic<uint64_t> threads = 0;
    thread_local const uint64_t number = ++threads;
    return number;
}

// The log may name them.
void release_types(Request &request) {
    for (MPI_Datatype type : request.own_types) {
        auto free_type = [type]() mutable {
            real<Fn::MPI_Type_free>(&type);
            forget_type_facts();
        };
        cd_log_place place = {};
        if (cd_log_here(&place) != 0) {
            when_forgotten(place, free_type);
        } else {
            free_type();
        }
    }
}

} // namespace

RequestTable &RequestTable::instance() {
    // Never destroyed: MPI may be used while the process ends.
    static auto &table = *new RequestTable;
    return table;
}

RequestTable::Key RequestTable::key_of(MPI_Request handle) { return word_of(handle); }

Request &RequestTable::add(MPI_Request handle) {
    if (Request *stale = find(handle)) {
        remove(*stale);
    }
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Request> request;
    if (spare_.empty()) {
        request = std::make_unique<Request>();
    } else {
        request = std::move(spare_.back());
        spare_.pop_back();
    }
    request->handle = handle;
    request->thread = this_thread();
    request->order = ++starts_;
    ++size_;
    return *(named_[key_of(handle)] = std::move(request));
}

Request *RequestTable::find(MPI_Request handle) {
    if (empty()) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    const auto found = named_.find(key_of(handle));
    return found != named_.end() ? found->second.get() : nullptr;
}

Request *RequestTable::find(uint64_t id) {
    const std::scoped_lock lock(mutex_);
    const auto found = numbered_.find(id);
    return found != numbered_.end() ? found->second : nullptr;
}

void RequestTable::set_number(Request &request, uint64_t id) {
    numbered_.erase(request.id);
    request.id = id;
    if (id != 0) {
        numbered_[id] = &request;
    }
}

void RequestTable::started(Request &request, uint64_t id, const cd_log_place &place) {
    const std::scoped_lock lock(mutex_);
    set_number(request, id);
    request.place = place;
    request.thread = this_thread();
    request.order = ++starts_;
}

void RequestTable::started(Request &request) { started(request, 0, {}); }

void RequestTable::ended(Request &request) {
    const std::scoped_lock lock(mutex_);
    set_number(request, 0);
}

void RequestTable::rename(Request &request, MPI_Request handle) {
    if (handle != MPI_REQUEST_NULL && handle != request.handle) {
        if (Request *stale = find(handle)) {
            remove(*stale);
        }
    }
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Request> owned;
    if (request.handle != MPI_REQUEST_NULL) {
        const auto found = named_.find(key_of(request.handle));
        owned = std::move(found->second);
        named_.erase(found);
    } else {
        const auto found = std::ranges::find_if(
            nameless_, [&](const auto &other) { return other.get() == &request; });
        owned = std::move(*found);
        nameless_.erase(found);
    }
    request.handle = handle;
    if (handle != MPI_REQUEST_NULL) {
        named_[key_of(handle)] = std::move(owned);
    } else {
        nameless_.push_back(std::move(owned));
    }
}

void RequestTable::remove(Request &request) {
    if (request.stand_in != MPI_REQUEST_NULL) {
        --stand_ins;
    }
    if (request.made_anew != MPI_REQUEST_NULL) {
        --stand_ins;
    }
    rename(request, MPI_REQUEST_NULL);
    ended(request);
    release_types(request);
    const std::scoped_lock lock(mutex_);
    --size_;
    const auto found =
        std::ranges::find_if(nameless_, [&](const auto &other) { return other.get() == &request; });
    // The vectors keep their memory for the next one.
    Blocks arrivals = std::move(request.arrivals);
    arrivals.clear();
    request = Request();
    request.arrivals = std::move(arrivals);
    spare_.push_back(std::move(*found));
    nameless_.erase(found);
}

void RequestTable::keep_type(MPI_Datatype type) {
    if (empty()) {
        return;
    }
    for (Request *request : all()) {
        MPI_Datatype copy = MPI_DATATYPE_NULL;
        for (Blocks *blocks : {&request->arrivals, &request->departures, &request->staging.landed,
                               &request->staging.sources, &request->staging.places}) {
            for (Block &block : *blocks) {
                if (block.type != type) {
                    continue;
                }
                if (copy == MPI_DATATYPE_NULL) {
                    real<Fn::MPI_Type_dup>(type, &copy);
                    request->own_types.push_back(copy);
                }
                block.type = copy;
            }
        }
    }
}

template <typename Wanted> std::vector<Request *> RequestTable::those(const Wanted &wanted) {
    const std::scoped_lock lock(mutex_);
    std::vector<Request *> requests;
    for (auto &[key, request] : named_) {
        if (wanted(*request)) {
            requests.push_back(request.get());
        }
    }
    for (auto &request : nameless_) {
        if (wanted(*request)) {
            requests.push_back(request.get());
        }
    }
    std::ranges::sort(requests, {}, &Request::order);
    return requests;
}

std::vector<Request *> RequestTable::all() {
    return those([](const Request &) { return true; });
}

std::vector<Request *> RequestTable::concerned(cd_handle cd) {
    return those([cd](const Request &request) {
        return is_of_this_thread(request) ||
               (request.logged() && cd_log_covers(cd, &request.place) != 0);
    });
}

bool RequestTable::is_of_this_thread(const Request &request) {
    return request.thread == this_thread();
}

} // namespace cd::logger
