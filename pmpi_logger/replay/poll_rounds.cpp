// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/poll_rounds.h"

#include "replay/match.h"

#include <algorithm>
#include <cstring>

namespace cd::logger {

std::optional<uint32_t> PollHistory::find(const Call &call, int result) const {
    for (uint32_t i = 0; i < known_; ++i) {
        const EntryHeader &known = polls_[i].header();
        if (same_call(call, known) && known.result == result) {
            return i;
        }
    }
    return std::nullopt;
}

void PollHistory::push(uint32_t poll) {
    order_ = order_ << digit_bits | poll;
    length_ = std::min<uint32_t>(length_ + 1, 2 * most);
}

bool PollHistory::begins_round(const Call &call, int result) {
    const std::optional<uint32_t> poll = find(call, result);
    if (!poll || *poll == (order_ & digit)) {
        return false;
    }
    for (unsigned period = 2; period <= most && 2 * period <= length_; ++period) {
        const unsigned bits = digit_bits * period;
        const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
        const auto number = [&](unsigned back) { return order_ >> digit_bits * back & digit; };
        if (((order_ ^ order_ >> bits) & mask) != 0 || number(period - 1) != *poll) {
            continue;
        }
        period_ = period;
        for (unsigned i = 0; i < period; ++i) {
            round_[i] = number(period - 1 - i);
        }
        return true;
    }
    return false;
}

void PollHistory::add(const EntryHeader &entry, size_t size) {
    Call call;
    call.fn = entry.function();
    call.word_count = entry.words;
    std::copy_n(entry.word(), entry.words, call.words);
    std::optional<uint32_t> poll = find(call, entry.result);
    if (!poll && (known_ == most || size > sizeof Poll::bytes)) {
        clear();
    }
    if (!poll && size <= sizeof Poll::bytes) {
        polls_[known_].size = size;
        std::memcpy(polls_[known_].bytes.data(), &entry, size);
        reinterpret_cast<EntryHeader *>(polls_[known_].bytes.data())->repeats = 1;
        poll = known_++;
    }
    if (poll) {
        push(*poll);
    }
}

void PollHistory::add_round() { push(round_[0]); }

bool PollHistory::is_next(const Call &call, int result, uint64_t come) const {
    const EntryHeader &expected = polls_[round_[come % period_]].header();
    return same_call(call, expected) && expected.result == result;
}

PollRound::PollRound(EntryReader entry) : count_(entry.header().repeats) {
    for (auto left = entry.take<uint64_t>(); left > 0; --left) {
        const auto size = entry.take<uint64_t>();
        polls_.emplace_back(entry.take(size), size);
        entry.take(-size % sizeof(uint64_t));
    }
}

std::optional<uint64_t> PollRound::find(const Call &call, uint64_t come) const {
    const uint64_t end = std::min<uint64_t>(count_, come + polls_.size());
    for (uint64_t i = come; i < end; ++i) {
        if (same_call(call, poll(i).header())) {
            return i;
        }
    }
    return std::nullopt;
}

} // namespace cd::logger
