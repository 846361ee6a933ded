// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "input.h"

#include "file_store/change_encoder.h"

#include <string>

namespace fuzz {

inline std::string text_of(const cd::State &state) {
    cd::ChangeWriter writer;
    write_snapshot(state, writer);
    const auto bytes = writer.bytes().bytes();
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

inline void require_sound(const cd::State &state, const cd::StoredEntries &entries) {
    const cd::StoredPlace *last = nullptr;
    uint64_t last_end = 0;
    for (const auto &[place, entry] : entries) {
        require(place.begin < entry.end, "an entry holds bytes");
        require(last == nullptr || last->space != place.space || last_end <= place.begin,
                "entries do not overlap");
        require(state.names.contains(entry.key.name), "an entry's key has a name");
        require((entry.run != nullptr) == (entry.restoration == cd::Restoration::copy),
                "COPY has data, and nothing else");
        if (entry.run != nullptr) {
            require(entry.run_offset <= entry.run->length &&
                        entry.end - place.begin <= entry.run->length - entry.run_offset,
                    "an entry's data lie in their run");
        }
        last = &place;
        last_end = entry.end;
    }
}

inline void require_sound(const cd::State &state) {
    for (const auto &[number, stored] : state.cds) {
        require(state.names.contains(stored.path), "a CD's path is known");
        require_sound(state, stored.entries);
    }
    for (const cd::StoredVersion &version : state.versions) {
        require_sound(state, version.entries);
    }
}

} // namespace fuzz
