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

// One containment domain: its place in its family and what it holds. Each operation on it has a
// file of its own in this folder. Operations take no locks, call no system, and know no MPI; the
// caller holds the locks that an operation names.
//
// A parent outlives its children.
struct Domain {
    // Its place in the family.
    Domain *parent = nullptr;
    std::vector<Domain *> children; // oldest first
    SiblingIndex children_numbers;  // the sibling indexes that children have
    int depth = 0;
    int sibling = 0;
    uint64_t creation = 0; // later ones have greater numbers
    std::string root_name;
    std::string identity; // rank/name/depth/sibling

    // Its store, if the CD outlives the process; nullptr: it is in memory only. Declared before the
    // entries, whose data lie in it.
    std::shared_ptr<PersistentStore> store;
    CdNumber number = 0;           // in the store
    std::string path;              // its place among the children created since a point in time
    uint64_t children_created = 0; // since the point in time
    uint64_t accepted_waste = 0;   // the store's wasted room after free_sparse_places()

    // Its contents.
    RangeIndex entries;
    int steps_since_joined = 0; // advances of it and of children since join_fragments() ran
    FileTable files;
    PendingRanges pending;                   // from its store, not added by this process yet
    std::vector<FilePosition> pending_files; // the same for file positions
    // It has added a range that the store lacks while ranges of later adds were pending.
    bool skips_pending = false;
    bool restarted = false;  // came from its store, and was neither restored nor advanced since
    bool dormant = false;    // came from its store, and the program has not created it yet
    bool files_owed = false; // was restored; a file is set back when it is added again
    // It has held more than copies without checksums: a restore checks all entries first.
    bool restore_may_fail = false;
    LogView log;
    std::array<SiblingIndex, 2> log_numbers; // of its children's logs, as in Log::Sibling
    StorageInfo storage;
    uint64_t epoch = 0;
    // Advances since then that failed in this rank only. The other ranks have counted them.
    uint64_t missed_epochs = 0;

    Domain() = default;
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    bool is_root() const { return parent == nullptr; }
    const char *name() const { return identity.c_str(); }
};

// Returns shares of all data of the CD, pending ranges included. May throw std::bad_alloc.
std::vector<Piece> data_of(const Domain &domain);

// Returns top and its descendants, parents before children and older before newer CDs. May throw
// std::bad_alloc.
std::vector<Domain *> subtree_of(Domain &top);

} // namespace cd
