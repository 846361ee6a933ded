// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file_store.h"
#include "memory/block.h"

#include <memory>
#include <string>
#include <vector>

namespace cd {

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
