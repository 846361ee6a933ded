// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store/block.h"

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
    size_t overwritten() const { return old_.size(); }

private:
    struct Change {
        Block *block;
        std::byte *at;
        size_t length;
        size_t old_offset;
        bool intact; // undoing must not seal what was damaged before
    };

    std::vector<Change> changes_;
    std::vector<std::byte> old_;
};

} // namespace cd
