// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <vector>

namespace cd {

// Overwrites store data in place and can take it all back: keeps the old bytes of what changes, a
// page at a time. What shadow=none uses instead of a second copy of everything.
// Takes everything back at its end unless keep() was called.
class UndoLog {
public:
    UndoLog() = default;
    UndoLog(const UndoLog &) = delete;
    UndoLog &operator=(const UndoLog &) = delete;
    ~UndoLog();

    // Brings piece up to date with memory; std::bad_alloc leaves what was done so far to be undone.
    void overwrite(const Piece &piece, const void *memory, size_t length);

    void keep() { changes_.clear(); }
    size_t overwritten() const { return overwritten_; }

private:
    struct Change {
        Block *block;
        size_t offset;
        size_t length;
        const std::byte *old;
        bool intact; // undoing must not seal what was damaged before
    };

    // Room for so many old bytes, which stays where it is.
    std::byte *room_for_old(size_t length);

    std::vector<Change> changes_;
    std::vector<Piece> rooms_; // blocks, so that their memory is used again by the next log
    size_t last_used_ = 0;     // bytes of the last room
    size_t overwritten_ = 0;
};

} // namespace cd
