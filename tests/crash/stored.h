// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"
#include "model.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace crash {

// What a store holds, as simple as it can be said, so that what was found can be compared with what
// should be there.

struct StoredByte {
    bool held = false;
    bool read_write = false;
    bool constrained = false;
    int restoration = 0;
    uint8_t data = 0; // COPY only
    bool operator==(const StoredByte &) const = default;
};

struct StoredContents {
    uint64_t epoch = 0;
    std::array<StoredByte, model::arena_size> bytes = {};
    std::map<int, long> files = {}; // positions, by slot
    bool operator==(const StoredContents &) const = default;
};

// A root that holds nothing and was never advanced is as good as none.
struct Stored {
    using Place = std::vector<int>;      // sibling indices from the root down
    std::map<Place, StoredContents> cds; // the root, and whoever holds something
    std::deque<StoredContents> versions; // older points in time, oldest first
    bool operator==(const Stored &) const = default;
};

Stored nothing_stored();

// Returns the content that the model tells, which knows no older points in time.
Stored stored_in(const model::Model &model);

// An advance of the root, of which memory has what is stored.
Stored after_an_advance(Stored stored, int keep);

// What was read from a store. "" or what is wrong with it; error: the library's, if that has found
// it.
std::string read_stored(const cd::File &file, const cd::State &state, Stored &stored,
                        cd_error &error);

// "" or where they differ first.
std::string difference(const Stored &found, const Stored &expected);

} // namespace crash
