// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "mpi_log/log_stream.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace cd {

// The active CDs of one thread, last in first out. A CD is in the stack of the thread that created
// it, until it ends. One that another thread ended is found out by its handle.
// When the thread ends, its CDs live on but are active nowhere.
class ActiveStack {
public:
    // May throw std::bad_alloc at a thread's first call.
    static ActiveStack &of_this_thread();

    ActiveStack(const ActiveStack &) = delete;
    ActiveStack &operator=(const ActiveStack &) = delete;

    // The calling thread's number, 0 if it has not used the library. Allocates nothing.
    static uint64_t calling_thread();

    // Differs from that of every other thread, also ended ones; never 0.
    uint64_t thread() const { return thread_; }

    // The active CD, or nullptr.
    cd_handle top();

    // What the calling thread's active CD logs into, nullptr if nothing. Takes no lock and
    // allocates nothing unless the active CD is another one than at the last call.
    static LogStream *active_log() noexcept;

    // May throw std::bad_alloc; then the next push() cannot.
    void make_room();
    void push(cd_handle handle) {
        handles_.push_back(handle);
        seat_ = {};
    }
    void remove(cd_handle handle) noexcept;

    ~ActiveStack();

private:
    // Where the active CD's log is, as long as the CD's slot has the generation.
    struct LogSeat {
        const std::atomic<uint64_t> *slot_generation = nullptr;
        uint64_t generation = 0;
        std::shared_ptr<LogStream> stream;
    };

    ActiveStack();
    LogStream *find_log() noexcept;

    uint64_t thread_;
    std::vector<cd_handle> handles_;
    LogSeat seat_;
};

} // namespace cd
