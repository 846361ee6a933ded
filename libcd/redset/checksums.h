// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <vector>

namespace cd::redset {

// Checksums of a member's files, which redset's own files lack. Each member stores those of all
// members in an identical file, so that any surviving one suffices.
struct MemberChecksums {
    uint32_t entry = 0;   // of the member's tree in scheme files
    uint32_t payload = 0; // of the scheme file behind the header
    std::vector<uint32_t> files;
    bool operator==(const MemberChecksums &) const = default;
};

using Checksums = std::vector<MemberChecksums>; // by member

// Does not depend on the order of the tree's elements.
uint32_t tree_checksum(KvTree tree);

KvTree checksums_tree(const Checksums &checksums);
Status read_checksums(const KvTree &tree, const char *file, const Set &set, Checksums &checksums);

} // namespace cd::redset
