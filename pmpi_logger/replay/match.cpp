// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/match.h"

#include "replay/divergence.h"

#include "cd/mpi_log.h"

#include <cstring>

namespace cd::logger {

bool same_call(const Call &call, const EntryHeader &logged) {
    return logged.function() == call.fn && logged.words == call.word_count &&
           std::memcmp(logged.word(), call.words,
                       sizeof(uint64_t) * static_cast<size_t>(call.word_count)) == 0;
}

std::optional<EntryReader> next_entry(const Call &call, int &result) {
    if (cd_log_stopped() != 0) {
        result = fail_after_difference(call);
        return std::nullopt;
    }
    size_t size = 0;
    while (const void *found = cd_log_read(&size)) {
        EntryReader entry(found, size);
        const EntryHeader &logged = entry.header();
        if (same_call(call, logged)) {
            return entry;
        }
        if (!entry.has(EntryHeader::negative) && !entry.has(EntryHeader::optional)) {
            result = not_matching(call, entry,
                                  logged.function() == call.fn ? "the arguments, or the data sent"
                                                               : "another function");
            return std::nullopt;
        }
    }
    // The log has nothing left that must be repeated, or cannot be read.
    result = cd_log_mode() == CD_LOG_REPLAYING ? unreadable(call) : run_live;
    return std::nullopt;
}

std::optional<EntryReader> next_entry_if_same(const Call &call) {
    if (cd_log_stopped() != 0) {
        return std::nullopt;
    }
    size_t size = 0;
    if (const void *found = cd_log_read(&size)) {
        EntryReader entry(found, size);
        if (same_call(call, entry.header())) {
            return entry;
        }
        cd_log_unread();
    }
    return std::nullopt;
}

int not_matching(const Call &call, const EntryReader &entry, const char *difference) {
    cd_log_unread();
    return diverged(call, entry.header(), difference);
}

} // namespace cd::logger
