// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/undo_log.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace cd {
namespace {

constexpr size_t smallest_room = size_t{64} << 10;
constexpr size_t largest_room = size_t{8} << 20;

} // namespace

UndoLog::~UndoLog() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        change->block->write(change->offset, change->old, change->length);
        if (!change->intact) {
            change->block->mark_damaged(change->offset, change->length);
        }
    }
}

std::byte *UndoLog::room_for_old(size_t length) {
    if (rooms_.empty() || rooms_.back().block().size() - last_used_ < length) {
        const size_t size = rooms_.empty()
                                ? smallest_room
                                : std::min(2 * rooms_.back().block().size(), largest_room);
        Block *block = Block::create(size, false);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        Piece room = Piece::adopt(*block, 0);
        rooms_.push_back(std::move(room));
        last_used_ = 0;
    }
    std::byte *room = rooms_.back().at() + last_used_;
    last_used_ += length;
    return room;
}

void UndoLog::overwrite(const Piece &piece, const void *memory, size_t length) {
    const auto *from = static_cast<const std::byte *>(memory);
    for (size_t done = 0; done < length; done += Block::page) {
        const size_t part = std::min(Block::page, length - done);
        const std::byte *at = piece.at() + done;
        if (std::memcmp(at, from + done, part) != 0) {
            std::byte *old = room_for_old(part);
            std::memcpy(old, at, part);
            const size_t offset = piece.offset() + done;
            changes_.push_back(
                {&piece.block(), offset, part, old, piece.block().intact(offset, part)});
            piece.block().write(offset, from + done, part);
            overwritten_ += part;
        }
    }
}

} // namespace cd
