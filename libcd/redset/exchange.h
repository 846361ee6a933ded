// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace cd::redset {

using Bytes = std::vector<std::byte>;

// Communication between the members of a set, over MPI or in the memory of one process. Each member
// has one, and all call the same functions in the same order. A failure of a call here is the same
// for all members, or members are gone: return it at once. Share a member's own failure with
// agree(). Throw nothing between two calls: use catch_exceptions().
class Exchange {
public:
    virtual ~Exchange() = default;

    virtual int members() const = 0;
    virtual int self() const = 0;

    // Gathers the bytes of all members, by member. If one has no memory for them all fail. Does not
    // throw.
    virtual Status gather(std::span<const std::byte> own, std::vector<Bytes> &all) = 0;

    struct Message {
        int peer = 0;
        std::span<std::byte> bytes;
    };

    // Starts sending and receiving messages. Messages between two members arrive in order, with the
    // length that the receiver names. finish() waits for all of them. Until then their bytes belong
    // to the exchange; after a failure they do for ever. Call get_on() now and then meanwhile, as
    // messages may need the processor. These do not throw: reserve() enough messages before. A
    // message has at most a gigabyte.
    virtual void reserve(size_t messages) = 0; // may throw std::bad_alloc
    virtual Status start(std::span<const Message> outgoing, std::span<const Message> incoming) = 0;
    virtual Status get_on() { return Status::ok(); }
    virtual Status finish() = 0;

    // Sets the ranks by which error messages name the members, instead of their numbers in the set.
    void call_by_ranks(std::vector<int> ranks) noexcept { ranks_ = std::move(ranks); }
    const std::vector<int> &called() const { return ranks_; }

private:
    std::vector<int> ranks_;
};

// Returns the same status to all members: success if all succeeded, else the first failure, with
// its message and its member's name. Does not throw.
Status agree(Exchange &exchange, Status own);

// Does the same, and gathers the bytes of all members if all succeeded.
Status agree(Exchange &exchange, Status own, std::span<const std::byte> bytes,
             std::vector<Bytes> &all);

// Returns `found`, which is the same for all members. If one of them has no memory all fail.
Status agree_on_memory(Exchange &exchange, Status found);

// Gathers the status of all members, and bytes of the members that succeeded.
Status gather_outcomes(Exchange &exchange, Status own, std::span<const std::byte> bytes,
                       std::vector<Bytes> &sent);
cd_error code_of(const Bytes &sent);
const char *text_of(const Bytes &sent); // of a failure
void take_codes_off(std::vector<Bytes> &sent);

} // namespace cd::redset
