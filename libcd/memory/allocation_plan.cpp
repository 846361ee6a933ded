// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/allocation_plan.h"

namespace cd {
namespace {

// Each block starts a new copy; with this size that costs nothing beside the copying.
constexpr size_t shared_block = size_t{8} << 20;

// Longer copies are faster to an aligned place; for short ones the gaps would cost more.
constexpr size_t worth_aligning = 1024;
constexpr size_t alignment = 64;

} // namespace

AllocationPlan::Place AllocationPlan::Walk::step(uintptr_t address, size_t length) {
    if (length >= own_block) {
        return {blocks++, 0};
    }
    if (address != previous_end && length >= worth_aligning) {
        shared_used = (shared_used + alignment - 1) / alignment * alignment;
    }
    if (shared_block == none || shared_used + length > cd::shared_block) {
        shared_block = blocks++;
        shared_used = 0;
    }
    const Place place = {shared_block, shared_used};
    shared_used += length;
    previous_end = address + length;
    return place;
}

AllocationPlan::~AllocationPlan() { release_blocks(); }

void AllocationPlan::release_blocks() noexcept {
    for (Room &room : rooms_) {
        if (room.block != nullptr && room.pieces > 0) {
            room.block->release(room.pieces);
        }
        room.block = nullptr;
    }
}

void AllocationPlan::plan(uintptr_t address, size_t length) {
    const Place place = planning_.step(address, length);
    if (place.block >= rooms_.size()) {
        rooms_.resize(place.block + 1);
    }
    Room &room = rooms_[place.block];
    room.size = place.offset + length;
    ++room.pieces;
}

size_t AllocationPlan::planned() const {
    size_t bytes = 0;
    for (const Room &room : rooms_) {
        bytes += room.size;
    }
    return bytes;
}

bool AllocationPlan::allocate() {
    for (Room &room : rooms_) {
        room.block = Block::create(room.size, checksummed_);
        if (room.block == nullptr) {
            release_blocks();
            return false;
        }
        room.block->retain(room.pieces - 1);
    }
    return true;
}

Piece AllocationPlan::next(uintptr_t address, size_t length) {
    const Place place = handing_out_.step(address, length);
    Room &room = rooms_[place.block];
    --room.pieces;
    return Piece::adopt(*room.block, place.offset);
}

} // namespace cd
