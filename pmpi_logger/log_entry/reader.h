// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "call/typed_block.h"
#include "log_entry/entry_header.h"

#include <cstddef>
#include <cstring>

namespace cd::logger {

// Reads what follows an entry's words, in the order in which it was written. The entry is in this
// process's memory; data from files are checked before.
class EntryReader {
public:
    EntryReader(const void *entry, size_t size)
        : header_(static_cast<const EntryHeader *>(entry)),
          at_(static_cast<const std::byte *>(entry) + sizeof(EntryHeader) +
              sizeof(uint64_t) * header_->words),
          end_(static_cast<const std::byte *>(entry) + size) {}

    const EntryHeader &header() const { return *header_; }
    int result() const { return header_->result; }
    bool has(EntryHeader::Flags flag) const { return (header_->flags & flag) != 0; }
    // Returns the size of the whole entry.
    size_t size() const {
        return static_cast<size_t>(end_ - reinterpret_cast<const std::byte *>(header_));
    }
    bool at_end() const { return at_ == end_; }

    const std::byte *take(size_t size) {
        const std::byte *piece = at_;
        at_ += size;
        return piece;
    }
    template <typename T> T take() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }

    // Writes the outputs of the call again.
    void take_outputs(const Call &call);

    // Delivers the data that add_data() wrote. Returns false and delivers nothing if the blocks
    // differ from the recorded ones.
    [[nodiscard]] bool take_data(const Blocks &blocks);

private:
    const EntryHeader *header_;
    const std::byte *at_;
    const std::byte *end_;
};

} // namespace cd::logger
