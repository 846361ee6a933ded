// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/undo_log.h"

#include <algorithm>
#include <cstring>

namespace cd {

UndoLog::~UndoLog() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        change->block->write(change->at, old_.data() + change->old_offset, change->length);
        if (!change->intact) {
            change->block->mark_damaged(change->at, change->length);
        }
    }
}

void UndoLog::overwrite(const Piece &piece, const void *memory, size_t length) {
    const auto *from = static_cast<const std::byte *>(memory);
    for (size_t done = 0; done < length; done += Block::page) {
        const size_t part = std::min(Block::page, length - done);
        std::byte *at = piece.at() + done;
        if (std::memcmp(at, from + done, part) != 0) {
            const size_t old_offset = old_.size();
            old_.insert(old_.end(), at, at + part);
            changes_.push_back(
                {&piece.block(), at, part, old_offset, piece.block().intact(at, part)});
            piece.block().write(at, from + done, part);
        }
    }
}

} // namespace cd
