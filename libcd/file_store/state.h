// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "file_store/format.h"
#include "ranges/entry.h"
#include "ranges/file_table.h"

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cd {

// One checksum for each checked part of a run; none with checksum=none. Inline for small data.
using Checksums = absl::InlinedVector<uint32_t, 4>;

// The decoded contents of a store file: the CDs of one family with their entries. Plain data.

// A place in the file with data of one or more entries, and their checksums. Never overwritten
// while an entry refers to it.
struct StoredRun {
    uint64_t offset = 0;
    uint64_t length = 0;
    Checksums checksums;
    size_t number = 0; // index in State::runs
};

// Names memory so that another process finds it: see format::NameKind.
struct StoredKey {
    uint64_t name = 0;      // number of a StoredName
    uint64_t add_index = 0; // path: number of the range in its CD's add order
    uint64_t offset = 0;    // path: in that range; else: in the object or region
    uint64_t length = 0;    // path: of that range; region: of the region
    bool operator==(const StoredKey &) const = default;
};

struct StoredName {
    format::NameKind kind = format::NameKind::path;
    std::string text;
    bool operator==(const StoredName &) const = default;
};

struct StoredEntry {
    uint64_t end = 0;
    addr_type access = CD_READ_ONLY;
    addr_scope scope = CD_GLOBAL;
    Restoration restoration = Restoration::copy;
    bool recent = false;            // came from a child since the CD's point in time
    bool added_anew = false;        // a restarted process added it while later ranges were pending
    const StoredRun *run = nullptr; // COPY only; the state has it
    uint64_t run_offset = 0;
    StoredKey key;
    bool operator==(const StoredEntry &) const = default;
};

// An address in the space of one process: each process that opens the store has a space of its own.
struct StoredPlace {
    uint64_t space = 0;
    uint64_t begin = 0;
    auto operator<=>(const StoredPlace &) const = default;
};

using StoredEntries = absl::btree_map<StoredPlace, StoredEntry>;

struct StoredCd {
    uint64_t number = 0;
    uint64_t parent = 0; // the root has itself
    int depth = 0;
    int sibling = 0;
    uint64_t path = 0; // number of a StoredName
    uint64_t epoch = 0;
    StoredEntries entries;
    std::vector<FilePosition> files;
};

// An older point in time of the root.
struct StoredVersion {
    uint64_t epoch = 0;
    StoredEntries entries;
    std::vector<FilePosition> files;
};

struct State {
    static constexpr uint64_t root = 0;

    std::map<uint64_t, StoredName> names;
    std::map<uint64_t, StoredCd> cds;   // by number; a parent's is smaller
    std::deque<StoredVersion> versions; // oldest first
    // Includes runs that no entry has any more. Copies of a state share them.
    std::shared_ptr<std::deque<StoredRun>> runs = std::make_shared<std::deque<StoredRun>>();
    uint64_t space = 0; // of the process that wrote last
};

} // namespace cd
