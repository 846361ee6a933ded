// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/changes.h"

#include "log_entry/writer.h"
#include "replay/match.h"

#include <string>
#include <string_view>
#include <utility>

namespace cd::logger {

std::optional<int> Changes::logged_result(const Call &call, int &failure) {
    const std::optional<EntryReader> entry = next_entry(call, failure);
    return entry ? std::optional(entry->result()) : std::nullopt;
}

bool Changes::is_next(const Call &call) { return next_entry_if_same(call).has_value(); }

std::optional<cd_log_place> Changes::note(const Call &call, bool is_logged, bool is_optional,
                                          int result, Undo undo) {
    cd_log_place place = {};
    cd_log_here(&place);
    bool is_there = is_logged;
    if (is_logged) {
        --place.entry;
    } else if (cd_log_mode() == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        if (is_optional) {
            writer.set(EntryHeader::optional);
        }
        is_there = writer.write() != nullptr;
    }
    if (result == MPI_SUCCESS && undo) {
        when_restored(place, std::move(undo));
    }
    return is_there ? std::optional(place) : std::nullopt;
}

int SetsInfo::puts_value_back(MPI_Info info, const char *key, Undo &undo) {
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
    if (present == 0) {
        const auto remove = [=] {
            int still = 0;
            int ignored = 0;
            real<Fn::MPI_Info_get_valuelen>(info, name.c_str(), &ignored, &still);
            if (still != 0) {
                real<Fn::MPI_Info_delete>(info, name.c_str());
            }
        };
        undo = {part, remove, {}};
        return MPI_SUCCESS;
    }
    std::string before(static_cast<size_t>(length) + 1, '\0');
    real<Fn::MPI_Info_get>(info, key, length, before.data(), &present);
    undo = {part, [=] { real<Fn::MPI_Info_set>(info, name.c_str(), before.c_str()); }, {}};
    return MPI_SUCCESS;
}

} // namespace cd::logger
