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

// Writes the newest point in time of the root, as state has it, into an empty file: a store file of
// its own with nothing else in it. source: where the data are. They are compared with their
// checksums on the way, so that damage is an error and never copied. What is in the file after an
// error is no store. Forces nothing to the disk. May throw std::bad_alloc.
Status write_image(const File &source, const Superblock &identity, State state, const File &image);

// A point in time of the root that can be read as long as this lives, while the store goes on:
// nothing that it refers to is written over before.
class HeldPoint {
public:
    // To be made where no operation of the family is under way, and after the root's advance, since
    // what was added later counts too. data: all that the root has. May throw std::bad_alloc.
    HeldPoint(std::shared_ptr<FileStore> store, std::vector<Piece> data);

    // Writes an image of it to a new file, which it forces to the disk if the store is; leaves none
    // on a failure. Thread-safe. May throw std::bad_alloc.
    Status write_image(const std::string &path) const;

private:
    std::shared_ptr<FileStore> store_; // first: the others give their places back to it
    HeldMetadata metadata_;
    std::vector<Piece> data_;
};

} // namespace cd
