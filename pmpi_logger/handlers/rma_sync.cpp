// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/rma_sync.h"

#include "log_entry/writer.h"
#include "payload/datatype_cache.h"
#include "payload/pack.h"
#include "replay/match.h"
#include "replay/poll_counts.h"
#include "requests/delivery.h"
#include "requests/request_table.h"
#include "rma/window_policy.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace cd::logger {

void WindowChanges::acquire() {
    window_.acquire(runs_);
    acquired_ = true;
}

void WindowChanges::add_to(EntryWriter &writer) {
    if (acquired_ && window_.recorded_in != Interval::now()) {
        window_.recorded_in = Interval::now();
        runs_.clear();
        if (window_.size() > 0) {
            runs_.push_back({0, window_.size()});
        }
    }
    join_near(runs_);
    writer.add(uint64_t{runs_.size()});
    writer.add(runs_.data(), runs_.size() * sizeof(Run));
    for (const Run &run : runs_) {
        writer.add(static_cast<std::byte *>(window_.memory()) + run.offset, run.length);
    }
}

void WindowChanges::take(EntryReader &entry, Window &window) {
    const auto count = entry.take<uint64_t>();
    const std::byte *const runs = entry.take(count * sizeof(Run));
    for (uint64_t i = 0; i < count; ++i) {
        Run run;
        std::memcpy(&run, runs + i * sizeof run, sizeof run);
        std::memcpy(static_cast<std::byte *>(window.memory()) + run.offset, entry.take(run.length),
                    run.length);
    }
    window.recorded_in = Interval::now();
}

namespace {

// An operation that has brought data, in a log entry; its data follow.
struct Brought {
    uint64_t id = 0;      // of its call, 0 if not logged
    uint64_t request = 0; // of its request
    Block result;         // where it went
};

void deliver_landed(const Access &access) {
    if (access.result.type != MPI_DATATYPE_NULL && !access.writes_program()) {
        copy_data(access.landing, access.result);
    }
}

// The program has its data, and may change them before it waits for the request.
void clear_arrivals(Request &read) {
    RequestTable::instance().change(read, [](Request &request) {
        request.arrivals.clear();
        request.staging.landed.clear();
    });
}

void free_types(const Access &access) {
    for (MPI_Datatype type : access.own_types) {
        forget_type_facts(type);
        real<Fn::MPI_Type_free>(&type);
    }
}

} // namespace

void RmaSync::settle(const Synchronization &what, Window &window, int result, bool recording) {
    const int *const flag = what.call.arguments.flag;
    if (flag != nullptr && result == MPI_SUCCESS && *flag == 0) {
        if (recording) {
            record_nothing(what.call, result);
        }
        return;
    }
    const bool ended = result == MPI_SUCCESS;
    WindowChanges changes(window);
    if (ended && what.acquires) {
        changes.acquire();
    }
    thread_local std::vector<Brought> brought;
    brought.clear();
    for (const Access &access : window.accesses) {
        if (ended && what.concludes(access.target)) {
            deliver_landed(access);
            if (access.result.type != MPI_DATATYPE_NULL) {
                brought.push_back({access.id, 0, access.result});
            }
        }
    }
    std::vector<Request *> reads;
    if (ended && what.ends != Ends::nothing) {
        reads = RequestTable::instance().reads_of(window.handle);
        std::erase_if(reads, [&](const Request *read) { return !what.concludes(read->target); });
    }
    for (const Request *read : reads) {
        const bool brings = still_brings_data(*read);
        if (brings) {
            read->staging.deliver(read->arrivals, everything);
        }
        brought.push_back({0, read->id, brings ? read->arrivals.front() : Block()});
    }
    if (recording) {
        EntryWriter writer(what.call, result);
        changes.add_to(writer);
        writer.add(uint64_t{brought.size()});
        for (const Brought &one : brought) {
            writer.add(one);
            writer.add_data({one.result}, everything);
        }
        writer.write();
    }
    std::ranges::for_each(reads, [](Request *read) { clear_arrivals(*read); });
    if (ended) {
        window.release([&](int target) { return what.concludes(target); });
        std::erase_if(window.accesses, [&](const Access &access) {
            if (!what.concludes(access.target)) {
                return false;
            }
            free_types(access);
            return true;
        });
    }
}

int RmaSync::replay(const Synchronization &what, Window &window) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_answer(what.call, result);
    if (!entry) {
        return result;
    }
    int *const flag = what.call.arguments.flag;
    if (flag != nullptr) {
        *flag = entry->has(EntryHeader::negative) ? 0 : 1;
    }
    if (entry->has(EntryHeader::negative)) {
        return MPI_SUCCESS;
    }
    WindowChanges::take(*entry, window);
    for (auto left = entry->take<uint64_t>(); left > 0; --left) {
        const auto one = entry->take<Brought>();
        const Access *access = window.find(one.id);
        Request *read = one.request != 0 ? RequestTable::instance().find(one.request) : nullptr;
        if (read != nullptr && read->arrivals.empty()) {
            read = nullptr; // started in an ancestor's log: the first execution has ended it
        }
        const Block &result_block = access != nullptr ? access->result
                                    : read != nullptr ? read->arrivals.front()
                                                      : one.result;
        if (!entry->take_data({result_block})) {
            return not_matching(what.call, *entry, "how much data is received");
        }
        if (read != nullptr) {
            clear_arrivals(*read);
        }
        std::erase_if(window.accesses, [&](const Access &other) { return &other == access; });
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS : raise_at(window, entry->result());
}

} // namespace cd::logger
