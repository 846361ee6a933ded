// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "model.h"

#include "cd/cd.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace crash {

// The memory of the application that programs pretend to be. Where the model has a byte, it has a
// block of bytes that are made from it and differ from each other: what is torn or in a wrong place
// is found. In the program's data, so that another process knows it by object and offset.
class Arena {
public:
    static constexpr size_t largest_block = 700;

    void set_block(size_t block) { block_ = block; }
    size_t block() const { return block_; }

    void write(int index, uint8_t value) {
        std::memcpy(&memory_[static_cast<size_t>(index) * block_], block_of(value), block_);
    }
    // False: it is not a block as write() makes it.
    bool read_block(const void *from, uint8_t &value) const {
        const auto *bytes = static_cast<const uint8_t *>(from);
        value = bytes[0];
        return std::memcmp(bytes, block_of(value), block_) == 0;
    }
    bool read(int index, uint8_t &value) const {
        return read_block(&memory_[static_cast<size_t>(index) * block_], value);
    }

    cd_addrspec range(const model::Element &element) {
        return {&memory_[static_cast<size_t>(element.offset) * block_],
                static_cast<size_t>(element.length) * block_,
                static_cast<addr_type>(element.access), static_cast<addr_scope>(element.scope)};
    }

    bool is_of_blocks(uint64_t begin, uint64_t end) const {
        const auto first = reinterpret_cast<uintptr_t>(memory_);
        return first <= begin && begin < end && end <= first + model::arena_size * block_ &&
               (begin - first) % block_ == 0 && (end - first) % block_ == 0;
    }
    size_t index_of(uint64_t address) const {
        return (address - reinterpret_cast<uintptr_t>(memory_)) / block_;
    }

private:
    using Blocks = std::array<std::array<uint8_t, largest_block>, 256>;

    static const uint8_t *block_of(uint8_t value) {
        static const std::unique_ptr<const Blocks> blocks = all_blocks();
        return (*blocks)[value].data();
    }
    static std::unique_ptr<const Blocks> all_blocks() {
        auto blocks = std::make_unique<Blocks>();
        for (size_t value = 0; value < blocks->size(); ++value) {
            for (size_t i = 0; i < largest_block; ++i) {
                (*blocks)[value][i] = static_cast<uint8_t>(value + i * 13 + i / 256);
            }
        }
        return blocks;
    }

    uint8_t memory_[model::arena_size * largest_block] = {1};
    size_t block_ = 1;
};

extern Arena arena;

} // namespace crash
