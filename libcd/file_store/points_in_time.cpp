// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/points_in_time.h"

#include "file_store/run.h"

#include <iterator>
#include <unordered_set>
#include <utility>

namespace cd {
namespace {

Status check_data(const File &file, const State &state) {
    std::unordered_set<const StoredRun *> seen;
    for (const auto &[number, cd] : state.cds) {
        for (const auto &[place, entry] : cd.entries) {
            if (entry.run != nullptr && seen.insert(entry.run.get()).second) {
                if (Status status = check_run(file, *entry.run); !status) {
                    return status;
                }
            }
        }
    }
    return Status::ok();
}

} // namespace

void go_back(State &state) {
    StoredVersion version = std::move(state.versions.back());
    state.versions.pop_back();
    state.cds.erase(std::next(state.cds.begin()), state.cds.end());
    StoredCd &root = state.cds.begin()->second;
    root.epoch = version.epoch;
    root.entries = std::move(version.entries);
    root.files = std::move(version.files);
}

std::string known_epochs(const State &state) {
    std::string known;
    for (const StoredVersion &version : state.versions) {
        known += " " + std::to_string(version.epoch);
    }
    return known + " " + std::to_string(state.cds.begin()->second.epoch);
}

Status take_newest_whole(const File &file, State &state, std::string &doubt, bool &went_back) {
    const Status newest = check_data(file, state);
    if (newest.is_ok() || newest.code() == CD_ERROR_STORE_IO) {
        return newest;
    }
    const MessageKeeper keeper; // an older one's damage is not what is reported
    while (!state.versions.empty()) {
        doubt += (doubt.empty() ? "epoch " : "; epoch ") +
                 std::to_string(state.cds.begin()->second.epoch) + " is damaged (" + message() +
                 ")";
        go_back(state);
        if (check_data(file, state).is_ok()) {
            went_back = true;
            return Status::ok();
        }
    }
    return newest;
}

} // namespace cd
