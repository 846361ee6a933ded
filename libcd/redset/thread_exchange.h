// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/exchange.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace cd::redset {

// Where the members of a set meet that are threads of this process. A member that leaves early,
// whatever the reason, does not keep the others waiting: they learn that it is gone.
class Meeting {
public:
    explicit Meeting(int members);

    // For one thread. The meeting outlives it.
    std::unique_ptr<Exchange> member(int self);
    void leave();

private:
    class Member;

    // Returns when all are here; fails in all if one of them has no memory.
    Status meet(bool has_memory = true);

    const int members_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    uint64_t round_ = 0;
    bool broken_ = false;
    bool lacking_ = false;       // memory, so far in this round
    bool round_lacking_ = false; // in the last one
    std::vector<Bytes> gathered_;
    Exchange::Made made_; // of these
    std::vector<std::vector<Exchange::Message>> outgoing_;
};

// Runs all members of a set in this process, each in a thread of its own, and returns when all are
// done: the failure of the first member that failed, with its message.
Status run_members(int members, const std::function<Status(Exchange &)> &member);

} // namespace cd::redset
