// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "redset/kvtree.h"

#include <string>

namespace cd::checkpoint {

// Writes a tree as a file of its own, with its checksum: the old file or the new one, whatever
// happens. writer: a rank that nobody else is in that directory. sync: whether a crash of the
// machine counts.
Status write_tree(const redset::KvTree &tree, const std::string &path, int writer, bool sync);

// Fails also where something follows the tree.
Status read_tree(const std::string &path, redset::KvTree &tree);

} // namespace cd::checkpoint
