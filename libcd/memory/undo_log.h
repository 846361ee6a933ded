// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <vector>

namespace cd {

// Overwrites blocks in place for shadow=none. Saves the old bytes of changed pages, and restores
// them at its end unless keep() was called.
class UndoLog {
public:
    UndoLog() = default;
    UndoLog(const UndoLog &) = delete;
    UndoLog &operator=(const UndoLog &) = delete;
    ~UndoLog();

    // Overwrites piece with memory where they differ. After std::bad_alloc the changes so far are
    // still undone at the end.
    void overwrite(const Piece &piece, const void *memory, size_t length);

    void keep() { changes_.clear(); }
    size_t overwritten() const { return overwritten_; }

private:
    struct Change {
        Block *block;
        size_t offset;
        size_t length;
        const std::byte *old;
        bool intact; // undoing must not give damaged bytes a fresh checksum
    };

    // Returns room for length old bytes at a stable address.
    std::byte *room_for_old(size_t length);

    std::vector<Change> changes_;
    std::vector<Piece> rooms_; // blocks, so that the pool reuses their memory
    size_t last_used_ = 0;     // bytes of the last room
    size_t overwritten_ = 0;
};

} // namespace cd
