// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/file_store.h"
#include "file_store/state.h"
#include "file_store/superblock.h"
#include "memory/block.h"

#include <memory>
#include <string>
#include <vector>

namespace cd {

// Writes the newest point in time of the root in `state` into an empty file, as a store of its own.
// Copies the data from `source` and compares their checksums: damage is an error. After an error
// the file is no store. Forces nothing to the disk. May throw std::bad_alloc.
Status write_image(const File &source, const Superblock &identity, State state, const File &image);

// Keeps a point in time of the root readable while the store continues: nothing that it refers to
// is written over.
class HeldPoint {
public:
    // Requires that no operation of the family is under way, and nothing was added since the root's
    // advance. data: all data of the root. May throw std::bad_alloc.
    HeldPoint(std::shared_ptr<FileStore> store, std::vector<Piece> data);

    // Writes an image to a new file, and forces it to the disk if the store does. Removes the file
    // after a failure. Thread-safe. May throw std::bad_alloc.
    Status write_image(const std::string &path) const;

private:
    std::shared_ptr<FileStore> store_; // first: the others give their extents back to it
    HeldMetadata metadata_;
    std::vector<Piece> data_;
};

} // namespace cd
