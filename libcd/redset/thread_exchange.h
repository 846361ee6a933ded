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

// Connects the members of a set that are threads of this process. If a member leaves early, as one
// without memory does, the others' calls fail instead of waiting for it.
class Meeting {
public:
    explicit Meeting(int members);

    // Returns the exchange of one thread. The meeting must outlive it.
    std::unique_ptr<Exchange> member(int self);
    void leave();

private:
    class Member;

    Status meet(); // waits until all members are here

    const int members_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    uint64_t round_ = 0;
    bool broken_ = false;
    std::vector<Bytes> gathered_;
    std::vector<std::vector<Exchange::Message>> outgoing_;
};

// Runs each member of a set in a thread of this process. Returns the failure of the first member
// that failed, with its message.
Status run_members(int members, const std::function<Status(Exchange &)> &member);

} // namespace cd::redset
