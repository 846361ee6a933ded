// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "log_entry/entry.h"
#include "log_entry/reader.h"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cd::logger {

// A program that waits for several things asks about them in turn. An entry of its own has such a
// round: its polls as they would stand in the log one by one, and how many have come, over and over
// again.

// The polls that found nothing which a thread has recorded last, one behind the other.
class PollHistory {
public:
    static constexpr size_t most = 4; // polls in a round

    void clear() { known_ = length_ = 0; }

    // The last one was made once more.
    void add_again() {
        if (length_ > 0) {
            push(order_ & digit);
        }
    }

    // This poll comes now, which is not the same as the last one. Whether with it the last polls
    // come a third time, as a round.
    bool begins_round(const Call &call, int result);

    // A poll has an entry of its own, or begins a round's.
    void add(const EntryHeader &entry, size_t size);
    void add_round();

    // Of the round that has begun last. Whether the next poll of it is this one, when so many have
    // come; and that it has come.
    bool is_next(const Call &call, int result, uint64_t come) const;
    void add_next(uint64_t come) { push(round_[come % period_]); }
    template <typename Take> void for_each_in_round(const Take &take) const {
        for (size_t i = 0; i < period_; ++i) {
            const Poll &poll = polls_[round_[i]];
            take(poll.bytes.data(), poll.size);
        }
    }

private:
    struct Poll {
        std::array<uint64_t, 32> bytes;
        size_t size = 0;
        const EntryHeader &header() const {
            return *reinterpret_cast<const EntryHeader *>(bytes.data());
        }
    };
    static constexpr uint32_t digit = 15;
    static constexpr unsigned digit_bits = 4;

    std::optional<uint32_t> find(const Call &call, int result) const;
    void push(uint32_t poll);

    std::array<Poll, most> polls_;
    uint32_t known_ = 0;
    uint32_t length_ = 0; // so many of the last ones are known
    uint32_t order_ = 0;  // the last ones by their numbers above, a digit each, the latest lowest
    size_t period_ = 0;
    std::array<uint32_t, most> round_ = {};
};

// Reads a round's entry.
class PollRound {
public:
    explicit PollRound(EntryReader entry);

    // Which poll after so many is this call, without passing over more than a round or than there
    // are; nothing if none is.
    std::optional<uint64_t> find(const Call &call, uint64_t come) const;
    EntryReader poll(uint64_t number) const { return polls_[number % polls_.size()]; }

private:
    boost::container::small_vector<EntryReader, PollHistory::most> polls_;
    uint64_t count_;
};

} // namespace cd::logger
