// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/placement.h"

namespace cd {
namespace {

// A copy that leaves one block for the next starts anew; with blocks of this size that is rare
// enough to cost nothing beside the copying.
constexpr size_t own_block = size_t{2} << 20;
constexpr size_t shared_block = size_t{8} << 20;

// Copies of some length run faster to an aligned place; for short ones the gaps would cost more.
constexpr size_t worth_aligning = 1024;
constexpr size_t alignment = 64;

} // namespace

Placement::Place Placement::Walk::step(uintptr_t address, size_t length) {
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

Placement::~Placement() { release_blocks(); }

void Placement::release_blocks() noexcept {
    for (Block *block : blocks_) {
        block->release();
    }
    blocks_.clear();
}

void Placement::plan(uintptr_t address, size_t length) {
    const Place place = planning_.step(address, length);
    if (place.block >= sizes_.size()) {
        sizes_.resize(place.block + 1);
    }
    sizes_[place.block] = place.offset + length;
}

bool Placement::allocate() {
    blocks_.reserve(sizes_.size());
    for (const size_t size : sizes_) {
        Block *block = Block::create(size, checksummed_);
        if (block == nullptr) {
            release_blocks();
            return false;
        }
        blocks_.push_back(block);
    }
    return true;
}

Piece Placement::next(uintptr_t address, size_t length) {
    const Place place = handing_out_.step(address, length);
    Block &block = *blocks_[place.block];
    return {block, block.data() + place.offset};
}

} // namespace cd
