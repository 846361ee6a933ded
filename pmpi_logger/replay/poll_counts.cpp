// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/poll_counts.h"

#include "log_entry/writer.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"

#include <cstring>
#include <vector>

namespace cd::logger {
namespace {

// A copy of the last entry read, since the log may take that back.
struct Replayed {
    std::vector<uint64_t> entry;
    size_t size = 0;
    cd_log_place behind = {}; // where the log is until it is read on, written or rewound

    EntryReader reader() const { return {entry.data(), size}; }
};
thread_local Replayed replayed;

bool log_is_behind(const Replayed &entry) {
    cd_log_place now = {};
    return cd_log_here(&now) != 0 && now.family == entry.behind.family &&
           now.stream == entry.behind.stream && now.entry == entry.behind.entry;
}

// Adds a poll to the thread's last entry. False if a file already has the entry.
bool count_in(EntryHeader &last) {
    ++last.repeats;
    if (!RecordAll::records() || RecordAll::changed(&last, sizeof last)) {
        return true;
    }
    --last.repeats;
    return false;
}

} // namespace

void record_nothing(const Call &call, int result) {
    EntryHeader *const last = EntryWriter::last_written();
    if (last != nullptr && (last->flags & EntryHeader::negative) != 0 && same_call(call, *last) &&
        last->result == result && count_in(*last)) {
        return;
    }
    EntryWriter writer(call, result);
    writer.set(EntryHeader::negative);
    writer.repeats(1);
    writer.add_outputs(call);
    writer.write();
}

std::optional<EntryReader> next_answer(const Call &call, int &result) {
    uint64_t &left = polls_left();
    if (left > 0 && cd_log_stopped() == 0 && log_is_behind(replayed) &&
        same_call(call, replayed.reader().header())) {
        --left;
        return replayed.reader();
    }
    left = 0;
    if (cd_log_mode() != CD_LOG_REPLAYING) {
        result = run_live;
        return std::nullopt;
    }
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry || !entry->has(EntryHeader::negative)) {
        return entry;
    }
    replayed.size = entry->size();
    replayed.entry.resize(replayed.size / sizeof(uint64_t) + 1);
    std::memcpy(replayed.entry.data(), &entry->header(), replayed.size);
    cd_log_here(&replayed.behind);
    left = entry->header().repeats - 1;
    return replayed.reader();
}

void end_poll_count() {
    EntryWriter::forget_last_written();
    if (cd_log_mode() != CD_LOG_REPLAYING) {
        polls_left() = 0;
    }
}

void forget_polls() {
    EntryWriter::forget_last_written();
    polls_left() = 0;
}

} // namespace cd::logger
