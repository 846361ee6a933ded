// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "config/storage_info.h"
#include "domains/persistence.h"
#include "domains/sibling_index.h"
#include "mpi_log/log_view.h"
#include "ranges/file_table.h"
#include "ranges/pending.h"
#include "ranges/range_index.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cd {

// One containment domain: what it holds and where it stands in its family. The operations on it
// stand in a file each beside this one; none of them locks, calls the system, or talks MPI. The
// caller holds the locks that an operation names.
//
// Lifetime: a parent outlives its children.
struct Domain {
    // Where it stands.
    Domain *parent = nullptr;
    std::vector<Domain *> children; // oldest first
    SiblingIndex children_numbers;
    int depth = 0;
    int sibling = 0;
    uint64_t creation = 0; // later ones have greater numbers
    std::string root_name;
    std::string identity; // rank/name/depth/sibling

    // Where it is written down, if it outlives the process. Before what it holds, which is in
    // there.
    std::shared_ptr<PersistentStore> store;
    CdNumber number = 0;
    std::string path; // which of its parent's children since a point in time, and so on
    uint64_t children_created = 0; // since the point in time
    uint64_t accepted_waste = 0;   // of the store's room, when this CD's part was last tidied

    // What it holds.
    RangeIndex entries;
    int steps_since_joined = 0; // advances, and those of children, since join_fragments() ran
    FileTable files;
    PendingRanges pending;                   // from its store, and not added by this process yet
    std::vector<FilePosition> pending_files; // the same, file positions
    bool skips_pending =
        false;              // has added a range that the store lacks while later ones are pending
    bool restarted = false; // came back from its store, and was neither restored nor advanced since
    bool dormant = false;   // came back, and the program has not created it yet
    bool files_owed = false;       // was restored; so are files when they are added again
    bool restore_may_fail = false; // holds, or once held, more than copies without checksums: a
                                   // restore has to look at all entries before it writes
    LogView log;
    std::array<SiblingIndex, 2> log_numbers; // of its children's logs, as in Log::Sibling
    StorageInfo storage;
    uint64_t epoch = 0;
    // Advances since then that failed here: where others count them, they take epochs, too.
    uint64_t missed_epochs = 0;

    Domain() = default;
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    bool is_root() const { return parent == nullptr; }
    const char *name() const { return identity.c_str(); }
};

// Shares of all data that the CD has, also of what is not bound here yet. May throw std::bad_alloc.
std::vector<Piece> data_of(const Domain &domain);

// parent and what descends from it, parents before children, older before newer.
// May throw std::bad_alloc.
std::vector<Domain *> subtree_of(Domain &top);

} // namespace cd
