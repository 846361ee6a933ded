// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/points_in_time.h"

#include "file_store/run.h"

#include <iterator>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace cd {
namespace {

using Runs = std::unordered_set<const StoredRun *>;

void collect(const StoredEntries &entries, Runs &runs) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr) {
            runs.insert(entry.run);
        }
    }
}

Status cannot_tell(const File &file, const StoredRun &run) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: newer operations may have written over the %llu bytes of data at offset %llu, "
                "and they have no checksums that would tell (checksum=none). The file was left as "
                "it is; remove it, or start with CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(run.length),
                static_cast<unsigned long long>(run.offset));
}

} // namespace

Status check_newest(const File &file, const State &state, Unchecked unchecked) {
    Runs seen;
    for (const auto &[number, cd] : state.cds) {
        for (const auto &[place, entry] : cd.entries) {
            if (entry.run != nullptr && seen.insert(entry.run).second) {
                if (unchecked == Unchecked::counts_as_damaged && entry.run->checksums.empty() &&
                    entry.run->length > 0) {
                    return cannot_tell(file, *entry.run);
                }
                if (Status status = check_run(file, *entry.run); !status) {
                    return status;
                }
            }
        }
    }
    return Status::ok();
}

void go_back(State &state, std::vector<Extent> &given_up) {
    Runs kept;
    for (const StoredVersion &version : state.versions) {
        collect(version.entries, kept);
    }
    Runs newest;
    for (const auto &[number, cd] : state.cds) {
        collect(cd.entries, newest);
    }
    for (const StoredRun *run : newest) {
        if (!kept.contains(run)) {
            given_up.push_back({run->offset, run->length});
        }
    }
    StoredVersion version = std::move(state.versions.back());
    state.versions.pop_back();
    state.cds.erase(std::next(state.cds.begin()), state.cds.end());
    StoredCd &root = state.cds.begin()->second;
    root.epoch = version.epoch;
    root.entries = std::move(version.entries);
    root.files = std::move(version.files);
}

void go_back(Loaded &loaded) {
    go_back(loaded.state, loaded.given_up);
    ++loaded.newer;
}

std::string known_epochs(const State &state) {
    std::string known;
    for (const StoredVersion &version : state.versions) {
        known += " " + std::to_string(version.epoch);
    }
    return known + " " + std::to_string(state.cds.begin()->second.epoch);
}

Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked) {
    const Status newest = check_newest(file, loaded.state, unchecked);
    if (newest.is_ok() || newest.code() == CD_ERROR_STORE_IO) {
        return newest;
    }
    const size_t older_ones = loaded.state.versions.size();
    const unsigned long long epoch = loaded.state.cds.begin()->second.epoch;
    const std::string why = file.reason();
    std::optional<SavedMessage> keeper; // an older one's damage is not what is reported
    keeper.emplace();
    while (!loaded.state.versions.empty()) {
        loaded.doubt += (loaded.doubt.empty() ? "epoch " : "; epoch ") +
                        std::to_string(loaded.state.cds.begin()->second.epoch) + " is damaged (" +
                        file.reason() + ")";
        go_back(loaded);
        const Status older = check_newest(file, loaded.state, unchecked);
        if (older.is_ok()) {
            return older;
        }
        // The next time this one may be found whole.
        if (older.code() == CD_ERROR_STORE_IO) {
            const std::string reason = message();
            keeper.reset();
            return fail(older.code(), "%s", reason.c_str());
        }
    }
    keeper.reset();
    return fail(newest.code(),
                "%s: of no point in time of the store is it known that it is whole (epoch %llu%s): "
                "%s. The file was left "
                "as it is; put a copy of it in its place, or start with CD_RESTART=no, which keeps "
                "it as .old until the first advance",
                file.path(), epoch, older_ones == 0 ? "" : " and older ones", why.c_str());
}

} // namespace cd
