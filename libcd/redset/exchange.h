// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cd::redset {

using Bytes = std::vector<std::byte>;

// How the members of a set meet: over MPI, or in the memory of one process. Each member has one,
// and all call the same functions in the same order. A failure here is everybody's, or members are
// gone: it is passed on at once, while failures of a member's own are told to the others with
// agree(). Between two meetings nothing may be thrown: what can be is an catch_exceptions().
class Exchange {
public:
    virtual ~Exchange() = default;

    virtual int members() const = 0;
    virtual int self() const = 0;

    // Everybody's bytes, by member. Where one member has no memory for them, all fail. Does not
    // throw.
    virtual Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) = 0;

    // What work makes of everybody's bytes, which it may change. It makes the same in all members
    // and does not throw: those that are in one process share what one of them makes.
    using Made = std::shared_ptr<const void>;
    using Work = std::function<Made(std::vector<Bytes> &all)>;
    virtual Status digest(std::span<const std::byte> own, const Work &work, Made &made);
    virtual bool shares_what_is_made() const { return false; }

    struct Message {
        int peer = 0;
        std::span<std::byte> bytes;
    };

    // Whether a member has left for good: it has said so, unlike one that is gone, and all fails.
    virtual bool has_been_left() const { return false; }

    // Sends and receives messages to and from other members; what two members send each other
    // arrives in that order, and has the length that the receiver names. finish() waits for all of
    // them, until when their bytes belong to the exchange; where one of these fails, for ever. Who
    // does something else meanwhile calls get_on() now and then: messages may need the processor.
    // They do not throw: there has to be room for so many messages each way, of at most a gigabyte.
    virtual void reserve(size_t messages) = 0; // may throw std::bad_alloc
    virtual Status start(std::span<const Message> outgoing, std::span<const Message> incoming) = 0;
    virtual Status get_on() { return Status::ok(); }
    virtual Status finish() = 0;

    // What messages call the members, in their order, where that tells people more: by their ranks
    // in a program, and else by their numbers in the set.
    void call_by_ranks(std::vector<int> ranks) noexcept { ranks_ = std::move(ranks); }
    const std::vector<int> &called() const { return ranks_; }

private:
    std::vector<int> ranks_;
};

// Gives every member the same outcome: success when all have it, else the failure of the first that
// failed, with its message and what it is called. Does not throw.
Status agree(Exchange &exchange, Status own);

// The same, and everybody's bytes when all succeeded.
Status agree(Exchange &exchange, Status own, std::span<const std::byte> bytes,
             std::vector<Bytes> &all);

// The same, with what all members make alike of everybody's bytes: take() gets it, also where
// make() fails, which is the outcome then. Both may throw std::bad_alloc: all fail then.
using Make = std::function<Status(std::vector<Bytes> &all, Exchange::Made &made)>;
using Take = std::function<void(const Exchange::Made &made)>;
Status agree_and_make(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                      const Make &make, const Take &take);

// For what all members find out alike: who has no memory to do so makes all fail; else the outcome
// is what was found.
Status agree_on_memory(Exchange &exchange, Status found);

// What agreeing is made of: everybody's outcome, with bytes where it is success.
Status gather_outcomes(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                       std::vector<Bytes> &told);
cd_error code_of(const Bytes &told);
const char *text_of(const Bytes &told); // of a failure
void take_codes_off(std::vector<Bytes> &told);

} // namespace cd::redset
