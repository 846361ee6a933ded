// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/block.h"
#include "call/checksum.h"
#include "payload/datatype_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd::logger {

// Whether a replay compares the data that are sent. CD_SENT_DATA=ignore leaves them out, for
// programs that send bytes which mean nothing: gaps of structs, memory that they have not written.
// The same for all that a process records, as it is read once, before the first of that.
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

// Bytes of data in a block; none where it has no address.
size_t bytes_in(const Block &block);

// The same of elements of which the facts are known.
inline size_t bytes_in(int64_t count, const DatatypeFacts &facts) {
    return count > 0 ? static_cast<size_t>(count * facts.size) : 0;
}

// Where the data begin, as numbers: a type of addresses begins at MPI_BOTTOM, from where pointers
// do not reach.
inline const std::byte *start_of(const void *address, const DatatypeFacts &facts) {
    return reinterpret_cast<const std::byte *>(reinterpret_cast<uintptr_t>(address) +
                                               static_cast<uintptr_t>(facts.lower_bound));
}

// MPI refuses data that are nowhere.
inline bool are_nowhere(const std::byte *start, size_t bytes) {
    return start == nullptr && bytes > 0;
}

// The data in a block. Most lie in memory in the order in which MPI sends them: there; else
// nullptr.
struct Contents {
    size_t size = 0;
    const std::byte *in_order = nullptr;
    bool padded = false; // as DatatypeFacts says
};
// facts: the type's.
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

// The first bytes of a block's data, in the order in which MPI sends them. Where they lie like that
// in memory, they are not moved: the result points there; else they are packed into scratch.
struct Bytes {
    const void *data = nullptr;
    size_t size = 0;
};
Bytes view(const Block &block, size_t bytes, std::vector<std::byte> &scratch);

// Copies the first bytes of a block's data, in the order in which MPI sends them.
void gather(const Block &block, size_t bytes, std::byte *to);

// One of several parts of a block that are equally long.
Block part_of(const Block &whole, int part, int parts);

// Writes the first bytes of a block's data; the rest stays as it is.
void deliver(const Block &block, const void *data, size_t bytes);

// The checksum of what is in the blocks; of a single one the same. What is padded does not count: a
// re-execution may send other bytes that mean the same.
uint64_t checksum_of(const Blocks &blocks);
uint64_t checksum_of(const Block &block, uint64_t so_far = 0);

// The same as far as a replay compares it.
template <typename Sent> uint64_t compared_checksum_of(const Sent &sent) {
    return SentData::are_compared() ? checksum_of(sent) : 0;
}

} // namespace cd::logger
