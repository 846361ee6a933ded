// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "config/storage_info.h"
#include "domains/sibling_numbers.h"
#include "mpi_log/log_share.h"
#include "ranges/file_table.h"
#include "ranges/range_index.h"

#include <cstdint>
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
    SiblingNumbers children_numbers;
    int depth = 0;
    int sibling = 0;
    uint64_t creation = 0; // later ones have greater numbers
    std::string root_name;
    std::string identity; // rank/name/depth/sibling

    // What it holds.
    RangeIndex entries;
    FileTable files;
    LogShare log;
    StorageInfo storage;
    uint64_t epoch = 0;

    Domain() = default;
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    bool is_root() const { return parent == nullptr; }
    const char *name() const { return identity.c_str(); }
};

// parent and what descends from it, parents before children, older before newer.
// May throw std::bad_alloc.
std::vector<Domain *> subtree_of(Domain &top);

} // namespace cd
