// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/checksum.h"
#include "call/typed_block.h"
#include "payload/datatype_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd::logger {

// Whether a replay compares the data that are sent. CD_SENT_DATA=ignore turns that off, for
// programs that send uninitialized bytes, such as gaps of structs. Read once for the process.
class SentData {
public:
    static bool are_compared() {
        const What known = known_.load(std::memory_order_relaxed);
        return known == compared || (known == unknown && read());
    }

private:
    enum What : char { unknown, compared, ignored };

    [[gnu::noinline]] static bool read();

    static inline constinit std::atomic<What> known_ = unknown;
};

// Returns how many bytes of data a block has; 0 if it has no address.
size_t bytes_in(const Block &block);

// Returns the bytes of `count` elements of a type with these facts.
inline size_t bytes_in(int64_t count, const DatatypeFacts &facts) {
    return count > 0 ? static_cast<size_t>(count * facts.size) : 0;
}

// Returns where the data begin. Computed with integers: a type of absolute addresses begins at
// MPI_BOTTOM, which is no valid pointer.
inline const std::byte *start_of(const void *address, const DatatypeFacts &facts) {
    return reinterpret_cast<const std::byte *>(reinterpret_cast<uintptr_t>(address) +
                                               static_cast<uintptr_t>(facts.lower_bound));
}

// True if the data have no address, which MPI refuses.
inline bool are_nowhere(const std::byte *start, size_t bytes) {
    return start == nullptr && bytes > 0;
}

// The data of a block. `in_order`: where they lie, if they lie as MPI sends them, else nullptr.
struct Contents {
    size_t size = 0;
    const std::byte *in_order = nullptr;
    bool padded = false; // as in DatatypeFacts
};
// `facts`: those of the block's type.
inline Contents contents_of(const Block &block, const DatatypeFacts &facts) {
    const size_t size = bytes_in(block.count, facts);
    const std::byte *const start = start_of(block.address, facts);
    if (size == 0 || are_nowhere(start, size)) [[unlikely]] {
        return {};
    }
    return {size, facts.in_order ? start : nullptr, facts.padded};
}
inline Contents contents_of(const Block &block) {
    return block.count > 0 ? contents_of(block, facts_of(block.type)) : Contents{};
}

// Returns the first bytes of a block's data as MPI sends them. They are packed into `scratch`
// unless they lie in that order in memory.
struct Bytes {
    const void *data = nullptr;
    size_t size = 0;
};
Bytes view(const Block &block, size_t bytes, std::vector<std::byte> &scratch);

// Copies the first bytes of a block's data as MPI sends them.
void gather(const Block &block, size_t bytes, std::byte *to);

// Returns one of several equally long parts of a block.
Block part_of(const Block &whole, int part, int parts);

// Writes the first bytes of a block's data; the rest stays as it is.
void deliver(const Block &block, const void *data, size_t bytes);

// Copies the data of a block, at most `most` bytes, to a block of the same types.
void copy_data(const Block &from, const Block &to, size_t most = SIZE_MAX);

// Returns the checksum of the data in the blocks. A single block has the same checksum as a list of
// it. Padded data are left out: a re-execution may send other padding.
uint64_t checksum_of(const Blocks &blocks);
uint64_t checksum_of(const Block &block, uint64_t so_far = 0);

// Returns the checksum of sent data, or 0 if a replay does not compare them.
template <typename Sent> uint64_t compared_checksum_of(const Sent &sent) {
    return SentData::are_compared() ? checksum_of(sent) : 0;
}

} // namespace cd::logger
