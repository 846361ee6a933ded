// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/polls.h"

#include "entry/writer.h"
#include "replay/match.h"

namespace cd::logger {
namespace {

struct Replayed {
    std::optional<EntryReader> nothing;
    uint64_t left = 0; // times that it is still found
};
thread_local Replayed replayed;

} // namespace

void record_nothing(const Call &call, int result) {
    EntryHeader *last = last_written();
    if (last != nullptr && (last->flags & EntryHeader::negative) != 0 && same_call(call, *last) &&
        last->result == result) {
        ++last->repeats;
        return;
    }
    EntryWriter writer(call, result);
    writer.set(EntryHeader::negative);
    writer.repeats(1);
    writer.add_outputs(call);
    writer.write();
}

std::optional<EntryReader> next_answer(const Call &call, int &result) {
    if (replayed.left > 0 && same_call(call, replayed.nothing->header())) {
        --replayed.left;
        return replayed.nothing;
    }
    replayed = {};
    std::optional<EntryReader> entry = next_entry(call, result);
    if (entry && entry->has(EntryHeader::negative)) {
        replayed = {entry, entry->header().repeats - 1};
    }
    return entry;
}

void forget_polls() {
    forget_last_written();
    replayed = {};
}

} // namespace cd::logger
