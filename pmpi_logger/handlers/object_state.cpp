// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/object_state.h"

#include "log_entry/writer.h"
#include "replay/match.h"

#include <climits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cd::logger {
namespace {

std::mutex keys_mutex;

// Never destroyed: MPI may be used while the process ends.
std::set<std::pair<KeyvalsOf, int>> &keys() {
    static auto &all = *new std::set<std::pair<KeyvalsOf, int>>;
    return all;
}

} // namespace

void Keyvals::add(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().emplace(kind, key);
}

bool Keyvals::has(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    return keys().contains({kind, key});
}

void Keyvals::remove(KeyvalsOf kind, int key) {
    const std::scoped_lock lock(keys_mutex);
    keys().erase({kind, key});
}

std::vector<int> Keyvals::all(KeyvalsOf kind) {
    const std::scoped_lock lock(keys_mutex);
    std::vector<int> found;
    for (auto at = keys().lower_bound({kind, INT_MIN}); at != keys().end() && at->first == kind;
         ++at) {
        found.push_back(at->second);
    }
    return found;
}

std::optional<int> ObjectChange::logged_result(const Call &call, Repeated repeated, int &failure) {
    std::optional<EntryReader> entry;
    if (repeated == Repeated::always) {
        entry = next_entry(call, failure);
    } else {
        entry = next_entry_if_same(call);
        failure = run_live;
    }
    return entry ? std::optional(entry->result()) : std::nullopt;
}

std::optional<cd_log_place> ObjectChange::note(const Call &call, bool is_logged, Repeated repeated,
                                               int result, Undo undo) {
    cd_log_place place = {};
    cd_log_here(&place);
    bool is_there = is_logged;
    if (is_logged) {
        --place.entry;
    } else if (cd_log_mode() == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        if (repeated == Repeated::optionally) {
            writer.set(EntryHeader::optional);
        }
        is_there = writer.write() != nullptr;
    }
    if (result == MPI_SUCCESS && undo) {
        when_restored(place, std::move(undo));
    }
    return is_there ? std::optional(place) : std::nullopt;
}

int InfoChange::puts_value_back(MPI_Info info, const char *key, Undo &undo) {
    const Part part = {word_of(info), std::hash<std::string_view>()(key)};
    if (is_undone(part)) {
        return MPI_SUCCESS;
    }
    int length = 0;
    int present = 0;
    const int result = real<Fn::MPI_Info_get_valuelen>(info, key, &length, &present);
    if (result != MPI_SUCCESS) {
        return result;
    }
    const std::string name = key;
    if (present != 0) {
        std::string before(static_cast<size_t>(length) + 1, '\0');
        real<Fn::MPI_Info_get>(info, key, length, before.data(), &present);
        undo = {part, [=] { real<Fn::MPI_Info_set>(info, name.c_str(), before.c_str()); }};
        return MPI_SUCCESS;
    }
    undo = {part, [=] {
                int still = 0;
                int ignored = 0;
                real<Fn::MPI_Info_get_valuelen>(info, name.c_str(), &ignored, &still);
                if (still != 0) {
                    real<Fn::MPI_Info_delete>(info, name.c_str());
                }
            }};
    return MPI_SUCCESS;
}

} // namespace cd::logger
