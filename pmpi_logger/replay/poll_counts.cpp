// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/poll_counts.h"

#include "log_entry/writer.h"
#include "mpi/thread_data.h"
#include "record_all/record_all.h"
#include "replay/complaint.h"
#include "replay/match.h"
#include "replay/poll_rounds.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace cd::logger {
namespace {

struct Recorded {
    PollHistory history;
    const EntryHeader *last = nullptr; // its last entry
};

// A copy, since the log may take its entry back when it is read on.
struct Replayed {
    std::vector<uint64_t> entry;
    size_t size = 0;
    uint64_t answered = 0;    // polls of it
    cd_log_place behind = {}; // where the log is until it is read on, written or rewound

    EntryReader reader() const { return {entry.data(), size}; }
};
thread_local Replayed replayed;

bool log_is_behind(const Replayed &entry) {
    cd_log_place now = {};
    return cd_log_here(&now) != 0 && now.family == entry.behind.family &&
           now.stream == entry.behind.stream && now.entry == entry.behind.entry;
}

// Where a CD has begun or was advanced between polls of one entry: the point in time is behind it.
struct Parted {
    Replayed replayed;
    uint64_t left = 0;
    uint64_t moment = 0; // as cd_log_moment() says, right after that
};
thread_local std::vector<Parted> parted; // the latest last

// Of those a replay has few, and a thread's CDs are few.
constexpr size_t most_parted = 64;

// No poll is counted in an entry that there is now.
void forget_recorded() {
    EntryWriter::forget_last_written();
    of_this_thread<Recorded>().last = nullptr; // another entry may come to lie there
}

// One more poll is in the thread's last entry. False if a file has that as it was.
bool count_in(EntryHeader *last) {
    ++last->repeats;
    if (!RecordAll::records() || RecordAll::changed(last, sizeof *last)) {
        return true;
    }
    --last->repeats;
    return false;
}

void write_poll(const Call &call, int result, PollHistory &history) {
    size_t size = sizeof(EntryHeader) + sizeof(uint64_t) * static_cast<size_t>(call.word_count);
    for (int i = 0; i < call.output_count; ++i) {
        size += call.outputs[i].size;
    }
    EntryWriter writer(call, result);
    writer.set(EntryHeader::negative);
    writer.repeats(1);
    writer.add_outputs(call);
    writer.write();
    if (const EntryHeader *written = EntryWriter::last_written()) {
        history.add(*written, size);
    }
}

void write_round(const Call &call, int result, PollHistory &history) {
    EntryWriter writer(call.fn, call.site, result);
    writer.set(EntryHeader::negative);
    writer.set(EntryHeader::rounds);
    writer.repeats(1);
    uint64_t polls = 0;
    history.for_each_in_round([&polls](const void *, size_t) { ++polls; });
    writer.add(polls);
    history.for_each_in_round([&writer](const uint64_t *poll, size_t size) {
        writer.add(uint64_t{size});
        writer.add(poll, (size + sizeof *poll - 1) / sizeof *poll * sizeof *poll);
    });
    writer.write();
    history.add_round();
}

// What the last entry read has for the call. Nothing if it has no more of these.
std::optional<EntryReader> answer_from_last(const Call &call) {
    uint64_t &left = polls_left();
    const EntryReader last = replayed.reader();
    if (!last.has(EntryHeader::rounds)) {
        if (!same_call(call, last.header())) {
            return std::nullopt;
        }
        --left;
        return last;
    }
    const PollRound round(last);
    const std::optional<uint64_t> poll = round.find(call, replayed.answered);
    if (!poll) {
        return std::nullopt;
    }
    left -= *poll + 1 - replayed.answered;
    replayed.answered = *poll + 1;
    return round.poll(*poll);
}

} // namespace

void record_nothing(const Call &call, int result) {
    auto &[history, last_of_history] = of_this_thread<Recorded>();
    EntryHeader *const last = EntryWriter::last_written();
    if (last == nullptr || last != last_of_history) {
        history.clear();
    } else if ((last->flags & EntryHeader::rounds) != 0) {
        if (history.is_next(call, result, last->repeats) && count_in(last)) {
            history.add_next(last->repeats - 1);
            return;
        }
    } else if (same_call(call, *last) && last->result == result && count_in(last)) {
        history.add_again();
        return;
    }
    if (history.begins_round(call, result)) {
        write_round(call, result, history);
    } else {
        write_poll(call, result, history);
    }
    last_of_history = EntryWriter::last_written();
}

std::optional<EntryReader> next_answer(const Call &call, int &result) {
    uint64_t &left = polls_left();
    if (left > 0 && cd_log_stopped() == 0 && log_is_behind(replayed)) {
        if (std::optional<EntryReader> answer = answer_from_last(call)) {
            return answer;
        }
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
    replayed.answered = 0;
    cd_log_here(&replayed.behind);
    left = entry->header().repeats;
    return answer_from_last(call);
}

void part_polls() {
    forget_recorded();
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
        // A restore to here says that the program does something else than the log.
    }
}

void rewind_polls(cd_handle cd) {
    forget_recorded();
    polls_left() = 0;
    const uint64_t moment = cd_log_moment(cd);
    const auto found = std::ranges::find_if(parted, [moment](const Parted &one) {
        return one.moment >= moment && log_is_behind(one.replayed);
    });
    if (found == parted.end()) {
        return;
    }
    parted.erase(found + 1, parted.end()); // of what will be executed again
    try {
        replayed = found->replayed;
        polls_left() = found->left;
    } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        // As above.
    }
}

} // namespace cd::logger
