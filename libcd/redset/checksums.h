// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <vector>

namespace cd::redset {

// What redset's files lack. All members keep those of all, in a file that is the same for all:
// any one that is left vouches for everything.
struct MemberChecksums {
    uint32_t entry = 0;   // of the member's tree in scheme files
    uint32_t payload = 0; // of what its scheme file holds behind the header
    std::vector<uint32_t> files;
    bool operator==(const MemberChecksums &) const = default;
};

using Checksums = std::vector<MemberChecksums>; // by member

uint32_t tree_checksum(KvTree tree); // in whatever order

KvTree checksums_tree(const Checksums &checksums);
Status read_checksums(const KvTree &tree, const char *file, const Set &set, Checksums &checksums);

} // namespace cd::redset
