// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/polls.h"

#include "entry/writer.h"
#include "replay/complaint.h"
#include "replay/match.h"
#include "replay/stopped.h"
#include "whole_program/whole_program.h"

#include <cstring>
#include <vector>

namespace cd::logger {
namespace {

// A copy, since the log may take its entry back when it is read on.
struct Replayed {
    std::vector<uint64_t> entry;
    size_t size = 0;
    cd_log_place behind = {}; // where the log is until it is read on, written or rewound

    EntryReader nothing() const { return {entry.data(), size}; }
};
thread_local Replayed replayed;

bool log_is_behind_it() {
    cd_log_place now = {};
    return cd_log_here(&now) != 0 && now.family == replayed.behind.family &&
           now.stream == replayed.behind.stream && now.entry == replayed.behind.entry;
}

} // namespace

void record_nothing(const Call &call, int result) {
    EntryHeader *last = EntryWriter::last_written();
    if (last != nullptr && (last->flags & EntryHeader::negative) != 0 && same_call(call, *last) &&
        last->result == result) {
        ++last->repeats;
        if (!WholeProgram::records() || WholeProgram::changed(last)) {
            return;
        }
        --last->repeats; // as it was written
    }
    EntryWriter writer(call, result);
    writer.set(EntryHeader::negative);
    writer.repeats(1);
    writer.add_outputs(call);
    writer.write();
}

std::optional<EntryReader> next_answer(const Call &call, int &result) {
    uint64_t &left = polls_left();
    if (left > 0 && !StoppedReplays::is_stopped() && log_is_behind_it() &&
        same_call(call, replayed.nothing().header())) {
        --left;
        return replayed.nothing();
    }
    left = 0;
    if (cd_log_mode() != CD_LOG_REPLAYING) {
        result = run_live;
        return std::nullopt;
    }
    std::optional<EntryReader> entry = next_entry(call, result);
    if (entry && entry->has(EntryHeader::negative)) {
        replayed.size = entry->size();
        replayed.entry.resize(replayed.size / sizeof(uint64_t) + 1);
        std::memcpy(replayed.entry.data(), &entry->header(), replayed.size);
        cd_log_here(&replayed.behind);
        left = entry->header().repeats - 1;
    }
    return entry;
}

void forget_polls() {
    EntryWriter::forget_last_written();
    polls_left() = 0;
}

} // namespace cd::logger
