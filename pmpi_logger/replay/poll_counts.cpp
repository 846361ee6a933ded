// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/poll_counts.h"

#include "log_entry/writer.h"
#include "record_all/record_all.h"
#include "replay/complaint.h"
#include "replay/match.h"

#include <algorithm>
#include <cstring>
#include <new>
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

// A CD began or advanced between polls of one entry: its point in time is behind the entry.
struct Parted {
    Replayed replayed;
    uint64_t left = 0;
    uint64_t moment = 0; // of cd_log_moment(), right after that
};
thread_local std::vector<Parted> parted; // the latest last
constexpr size_t most_parted = 64;

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

void part_polls() {
    EntryWriter::forget_last_written();
    uint64_t &left = polls_left();
    if (left == 0) {
        return;
    }
    if (cd_log_mode() != CD_LOG_REPLAYING || !log_is_behind(replayed)) {
        left = 0;
        return;
    }
    if (parted.size() == most_parted) {
        parted.erase(parted.begin());
    }
    try {
        parted.push_back({replayed, left, cd_log_moment(nullptr)});
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // A restore to here reports a divergence.
    }
}

void rewind_polls(cd_handle cd) {
    EntryWriter::forget_last_written();
    polls_left() = 0;
    const uint64_t moment = cd_log_moment(cd);
    const auto found = std::ranges::find_if(parted, [moment](const Parted &one) {
        return one.moment >= moment && log_is_behind(one.replayed);
    });
    if (found == parted.end()) {
        return;
    }
    parted.erase(found + 1, parted.end()); // the program executes these again
    try {
        replayed = found->replayed;
        polls_left() = found->left;
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // The next poll reports a divergence.
    }
}

} // namespace cd::logger
